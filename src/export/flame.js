// The flame graph's script: zoom, search, keyboard. Stands inside the picture, uses nothing else and
// loads nothing. The picture is whole without it; all numbers stand in the boxes' titles.
(function () {
	"use strict";
	var svg = (document.currentScript && document.currentScript.ownerSVGElement) ||
		document.documentElement;
	var NS = "http://www.w3.org/2000/svg", LEAST = 0.1, PAD = 3;
	var drawn = svg.viewBox.baseVal.width, width = drawn;
	var found = svg.getElementById("found"), info = svg.getElementById("info");
	var column = columnWidth(), said = info.textContent;
	var boxes = [], zoomed = null, current = null, pattern = null, field = null;

	function columnWidth() {
		var probe = document.createElementNS(NS, "text"), length;
		probe.textContent = "mmmmmmmmmm";
		svg.appendChild(probe);
		length = probe.getComputedTextLength() / 10;
		svg.removeChild(probe);
		return length > 0 ? length : 6.7;
	}

	// Boxes stand in the order of a walk: callers first.
	function read() {
		var open = [], all = svg.getElementById("boxes").children, i, g, rect, box;
		for (i = 0; i < all.length; i++) {
			g = all[i];
			rect = g.getElementsByTagName("rect")[0];
			box = {
				g: g, rect: rect, text: g.getElementsByTagName("text")[0],
				full: g.getElementsByTagName("title")[0].textContent,
				x: +rect.getAttribute("x"), w: +rect.getAttribute("width"),
				y: +rect.getAttribute("y"), callees: [], found: false
			};
			box.name = box.full.split("\n")[0];
			while (open.length && open[open.length - 1].y >= box.y)
				open.pop();
			box.caller = open.length ? open[open.length - 1] : null;
			if (box.caller)
				box.caller.callees.push(box);
			open.push(box);
			g.fah = box;
			boxes.push(box);
		}
	}

	function columns(c) { // Chinese, Japanese, Korean and most pictures take two
		c = c.codePointAt(0);
		return c >= 0x1100 && (c < 0x1160 || (c >= 0x2e80 && c < 0xa4d0) || (c >= 0xac00 && c < 0xd7a4) ||
			(c >= 0xf900 && c < 0xfb00) || (c >= 0xfe30 && c < 0xfe70) || (c >= 0xff00 && c < 0xff61) ||
			c >= 0x1f300) ? 2 : 1;
	}

	function cut(name, room) {
		var out = "", used = 0, all = Array.from(name), i;
		for (i = 0; i < all.length; i++) {
			used += columns(all[i]);
			if (used > room - (i + 1 < all.length ? 1 : 0))
				return out + "\u2026";
			out += all[i];
		}
		return out;
	}

	function widthOf(name) {
		return Array.from(name).reduce(function (sum, c) { return sum + columns(c); }, 0);
	}

	// With its place, without it, or the last part of what Python calls a.b.c: the first that fits.
	function fitted(box, room) {
		var name = box.name;
		if (room < 3)
			return "";
		if (widthOf(name) > room)
			name = name.replace(/ \([^()]*\)$/, "");
		if (widthOf(name) > room && box.rect.classList[0][0] === "p")
			name = name.replace(/^.*\.(?=[^.])/, "");
		return cut(name, room);
	}

	function isAbove(box, of) {
		for (; of; of = of.caller)
			if (of === box)
				return true;
		return false;
	}

	function place(box, x, w) {
		var label;
		if (w < LEAST || x + w <= 0 || x >= width) {
			box.g.setAttribute("display", "none");
			return;
		}
		if (x < 0) {
			w += x;
			x = 0;
		}
		w = Math.min(w, width - x);
		box.g.removeAttribute("display");
		box.rect.setAttribute("x", x.toFixed(3));
		box.rect.setAttribute("width", w.toFixed(3));
		label = fitted(box, Math.floor((w - 2 * PAD) / column));
		if (!label && !box.text)
			return;
		if (!box.text) {
			box.text = document.createElementNS(NS, "text");
			box.text.setAttribute("y", box.y + 11);
			box.g.appendChild(box.text);
		}
		box.text.textContent = label;
		box.text.setAttribute("x", (x + PAD).toFixed(2));
	}

	function draw() {
		var from = zoomed ? zoomed.x : 0, whole = zoomed ? zoomed.w : drawn;
		var scale = width / whole, hit = 0, i, box, up;
		for (i = 0; i < boxes.length; i++) {
			box = boxes[i];
			up = zoomed && box !== zoomed && isAbove(box, zoomed);
			place(box, up ? 0 : (box.x - from) * scale, up ? width : box.w * scale);
			box.g.classList.toggle("up", !!up);
			box.g.classList.toggle("hit", box.found);
			box.g.classList.toggle("now", box === current);
			if (box.found && !outermost(box, from, whole))
				continue;
			if (box.found)
				hit += Math.min(box.x + box.w, from + whole) - Math.max(box.x, from);
		}
		svg.classList.toggle("zoomed", !!zoomed);
		svg.classList.toggle("searched", !!pattern);
		found.textContent = pattern ? "/" + pattern.source + "/ matches " +
			(100 * Math.max(0, hit) / whole).toFixed(2) + "% of what is shown" : "";
	}

	// In sight, and no caller of it matches as well: so that nothing is counted twice.
	function outermost(box, from, whole) {
		var caller;
		if (box.x + box.w <= from || box.x >= from + whole)
			return false;
		for (caller = box.caller; caller; caller = caller.caller)
			if (caller.found)
				return false;
		return true;
	}

	function say(box) {
		info.textContent = box ? box.full.split("\n").join("  \u2014  ") : said;
	}

	function zoom(box) {
		zoomed = box && box.caller ? box : null;
		draw();
	}

	function point(box) {
		current = box;
		draw();
		say(box);
	}

	function search(text) {
		pattern = null;
		svg.classList.remove("wrong");
		if (text) {
			try {
				pattern = new RegExp(text);
			} catch (e) {
				svg.classList.add("wrong");
				boxes.forEach(function (box) { box.found = false; });
				draw();
				found.textContent = "no regular expression: " + text;
				return;
			}
		}
		boxes.forEach(function (box) {
			box.found = !!pattern && pattern.test(box.name);
		});
		draw();
	}

	function ask() {
		var frame;
		if (!field) {
			frame = document.createElementNS(NS, "foreignObject");
			frame.setAttribute("x", 10);
			frame.setAttribute("y", 4);
			frame.setAttribute("width", 320);
			frame.setAttribute("height", 26);
			field = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
			field.setAttribute("placeholder", "search: a regular expression");
			field.setAttribute("aria-label", "search: a regular expression");
			field.setAttribute("style", "width:300px;font:12px monospace");
			field.addEventListener("input", function () { search(field.value); });
			field.addEventListener("keydown", function (e) {
				e.stopPropagation();
				if (e.key === "Escape") {
					field.value = "";
					search("");
				}
				if (e.key === "Escape" || e.key === "Enter") {
					frame.setAttribute("display", "none");
					svg.focus();
				}
			});
			frame.appendChild(field);
			svg.appendChild(frame);
		}
		field.parentNode.removeAttribute("display");
		field.focus();
		field.select();
	}

	function beside(box, step) {
		var all = box.caller ? box.caller.callees : [box], i = all.indexOf(box) + step;
		return all[Math.max(0, Math.min(all.length - 1, i))];
	}

	function key(e) {
		var at = current || zoomed || boxes[0], to = null;
		if (e.ctrlKey && e.key === "f" || e.key === "/")
			ask();
		else if (e.ctrlKey || e.altKey || e.metaKey || !at)
			return;
		else if (e.key === "ArrowDown")
			to = at.callees[0];
		else if (e.key === "ArrowUp")
			to = at.caller;
		else if (e.key === "ArrowRight")
			to = beside(at, 1);
		else if (e.key === "ArrowLeft")
			to = beside(at, -1);
		else if (e.key === "Enter")
			zoom(at);
		else if (e.key === "Escape" || e.key === "r") {
			if (field)
				field.value = "";
			current = null;
			search("");
			zoom(null);
			say(null);
		} else
			return;
		e.preventDefault();
		if (to)
			point(to);
	}

	function boxOf(e) {
		var g = e.target.closest ? e.target.closest("#boxes > g") : null;
		return g && g.fah;
	}

	function resize() {
		if (svg !== document.documentElement)
			return;
		width = Math.max(400, svg.ownerDocument.defaultView.innerWidth - 16);
		svg.setAttribute("width", width);
		svg.setAttribute("viewBox", "0 0 " + width + " " + svg.viewBox.baseVal.height);
		found.setAttribute("x", width - 10);
		draw();
	}

	read();
	svg.classList.add("live");
	svg.setAttribute("tabindex", "0");
	svg.addEventListener("click", function (e) {
		var box = boxOf(e), button = e.target.id;
		if (button === "search")
			ask();
		else if (button === "reset")
			zoom(null);
		else if (box)
			zoom(box === zoomed ? null : box);
	});
	svg.addEventListener("mouseover", function (e) {
		var box = boxOf(e);
		say(box || current);
	});
	svg.addEventListener("keydown", key);
	if (svg === document.documentElement) {
		window.addEventListener("resize", resize);
		resize();
	}
	svg.focus();
})();
