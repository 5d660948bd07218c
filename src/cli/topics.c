/*
 * topics.c - what users need beyond the commands' own help: one entry serves fixingahole help
 * TOPIC, the man page and the shells' completion. A line that begins with spaces stays a line.
 */
#include "cli/cli.h"

#include <string.h>

/* clang-format off */
const struct fah_topic fah_topics[] = {
	{.name = "arguments", .summary = "which arguments are fixingahole's and which are the program's",
	 .text = "profile: options of ours may stand before FILE and behind it. The first argument behind FILE "
	 "that is none of them begins the program's, as does whatever follows --. Behind FILE, --help is "
	 "the program's.\n\n"
	 "    fixingahole profile script.py -q --size 10   --size 10 is the script's\n"
	 "    fixingahole profile script.py -- -q          -q is the script's\n\n"
	 "record: everything from the command on is the command's. Elsewhere options may stand anywhere."},
	{.name = "captures", .summary = "the recording itself, and who reads it",
	 .text = "A recording is one file, whatever is shown of it later: profile leaves it as profile.fah in the "
	 "folder of the run, record as <name>-<pid>.fah in the current folder. It has the stacks of all "
	 "threads and child processes, with native frames, waiting and lines.\n\n"
	 "summarize, tree, flame, annotate, graph, export, stats and inspect take such a file, the folder of a run, or the "
	 ".fah.partial of a run that was killed: that is read as far as it goes.\n\n"
	 "A capture can be read on another machine. It holds names, line numbers, times, folders and "
	 "command lines; no values of the program, and of its source only what --code ran and the cells "
	 "of a notebook. doc/format.md describes it byte by byte."},
	{.name = "certainty", .summary = "how sure the numbers are",
	 .text = "Numbers come from samples, so each share has an interval: the last lines of a report say how "
	 "far off shares may be in 19 of 20 cases, and how many samples there were. Four times the "
	 "samples halve it: let the program run longer, or raise --rate.\n\n"
	 "The same lines say what was lost: dropped samples by reason, threads and processes that could "
	 "not be sampled, time in no Python code. A report with little to show says why.\n\n"
	 "A line is where the interpreter itself says that the frame stands. Instructions that it specialises "
	 "(3.11 and later) keep their places, so their lines are as sure as before: neighbours in a hot loop "
	 "are within 3 points up to 3.13. From 3.14 on a line may have some time of the one behind it: of "
	 "three neighbours in a loop the largest had 4 points too little on 3.14, 6 on 3.15. Where CPython's JIT "
	 "(3.14 and later, PYTHON_JIT=1) has made machine code of a loop, that is kept only at instructions that can "
	 "fail or call, so a line may have time of the lines that follow it; functions are right, and the "
	 "report says how many samples were there.\n\n"
	 "n_calls, from CPython 3.12 on, is counted call by call; with ≈ (~ in ASCII) it is an estimate, of what was called too "
	 "often for that: by how often the caller was called, or how often its loop went round, within 5 % where these are alike all "
	 "along; else (a recursion, while) by the clock, which is shown with two digits and may be off by half or twice. "
	 "samples: calls were not counted; in so many samples it was seen.\n\n"
	 "profile --repeat N runs a program N times and marks functions whose time differs from run to "
	 "run by more than samples make."},
	{.name = "clock", .summary = "when samples are taken, and what that costs",
	 .text = "A thread is sampled each time it has used so much CPU time: 250 times a second of it, or what "
	 "--rate says (up to 20 kHz). Samples stand for the CPU time that was really used, so "
	 "shares don't depend on the rate. Waiting is not sampled, but seen from outside.\n\n"
	 "Two clocks can do that. The timer is bound to the kernel's tick (usually 250 a second) and every "
	 "user has it. perf's clock also sees work that keeps step with the tick, and is faster; the "
	 "kernel grants it to users where kernel.perf_event_paranoid is 2 or less, else to root. By default perf's "
	 "serves outside of the kernel and the tick inside; where perf is refused, the timer does all, as for "
	 "threads that hand over to each other all the time: perf's clock makes each switch dearer. "
	 "--clock timer and --clock perf choose; a report names the clock in its last lines.\n\n"
	 "Above the tick's rate a sample may interrupt a call that is about to block (EINTR); Python "
	 "calls again by itself.\n\n"
	 "Unless a rate is given, sampling keeps within 1 % of each core that the program keeps busy, by "
	 "sampling more rarely in longer runs. Counting calls, which profile does from CPython 3.12 on, has a limit of "
	 "its own: up to 1.5 % of the program's CPU, 3 % where it calls new functions all the time; --no-trace does without. "
	 "--budget PERCENT is of one core, and for all of it: half for calls at most, the rest for samples. "
	 "inspect --health says what each was."},
	{.name = "environment", .summary = "the variables that are read",
	 .text = "    FIXINGAHOLE_ROOT  and _OUTPUT, _IGNORE, _DURATION: help settings\n"
	 "    VIRTUAL_ENV       its Python is used, its packages are not reported\n"
	 "    PATH              where python3, and record's command, are found\n"
	 "    NO_COLOR          no colour\n"
	 "    FORCE_COLOR       colour also off a terminal (0: none)\n"
	 "    COLUMNS           width of what is printed\n"
	 "    TERM              dumb, or none: no colour, and nothing drawn in place\n"
	 "    PYTHONPATH        and PYTHONSAFEPATH: where --module looks first\n"
	 "    LC_ALL            or LC_CTYPE, or LANG: ASCII tables if not UTF-8\n"
	 "    XDG_CACHE_HOME    keeps what was read of native code (~/.cache)"},
	{.name = "exit-status", .summary = "what fixingahole exits with",
	 .text = "profile, record, calls and lines exit as the program did: with its status, or 128 + n where signal "
	 "n killed it. Nothing that happens to the report changes that.\n\n"
	 "    1    the program could not be started: no such Python, or no program\n"
	 "    2    wrong use, or a file that cannot be read; nothing was run\n\n"
	 "profile --repeat: the first run that fails ends the series, and its status is the one."},
	{.name = "formats", .summary = "other tools' files: what is written, and what is read",
	 .text = "export CAPTURE -f FORMAT writes a capture for another tool's viewer; record -f FORMAT does so at "
	 "once. Without -f the ending of the -o FILE decides. -n shows native frames, -t threads, -i "
	 "waiting, --only FUNC what runs below one function.\n\n"
	 "summarize also reads the JSON profiles of scalene.",
	 .formats = true},
	{.name = "interpreters", .summary = "which Python runs the program, and which can be profiled",
	 .text = "profile uses --python, which is a path or a name on PATH; else the active virtual environment's "
	 "(VIRTUAL_ENV); else python3 on PATH. record runs the command that it is given.\n\n"
	 "CPython 3.8 to 3.15, with the GIL, on Linux x86-64. Nothing has to be installed in the "
	 "program's environment. Children, by fork, spawn or exec, are recorded too.\n\n"
	 "What cannot be profiled (a Python that is not known, a program that is none) runs as it would, "
	 "and the report says what it did not see."},
	{.name = "notebooks", .summary = "how profile runs FILE.ipynb",
	 .text = "Code cells run in order, in one process, in the notebook's folder: in IPython's own shell where "
	 "the environment has one, else with the common magics. The notebook itself is not changed.\n\n"
	 "Results are by cell and line, as in \"cell 4, line 2\"; code cells are counted from 1. An "
	 "exception ends the run with status 1 and its traceback on stderr, and what was recorded is "
	 "reported. Cells tagged raises-exception may raise, those tagged skip-execution are not run. "
	 "doc/notebooks.md has the list of magics."},
	{.name = "output", .summary = "what is printed, and what is left in files",
	 .text = "stdout is the program's; profile prints its summary there when the program has ended, and with "
	 "-q nothing. record prints nothing there unless -o - asks for it. Errors of ours are on stderr, on a "
	 "terminal also a line that says how it goes, while the program writes nothing. An output never replaces "
	 "the script or the capture that is read.\n\n"
	 "Each run of profile leaves a folder, performance/<script>/<UTC date_time>/:\n\n"
	 "    profile_summary.txt  what is printed at the end\n"
	 "    profile_results.txt  lines of each file with 1 % of the run or more\n"
	 "    profile.fah          the recording: see help captures\n"
	 "    logs.log             warnings and log records, where there were any\n"
	 "    <script>             a copy of the code that ran; of a module, its file\n"
	 "                         or __main__.py where it is found from the current\n"
	 "                         folder or PYTHONPATH, else there is none\n\n"
	 "An output folder that is new or empty gets a .gitignore for all that is in it. --output-file FILE "
	 "has summary and table together; with --repeat the table of all runs."},
	{.name = "scope", .summary = "whose code is reported",
	 .text = "A report is about the project: code below the root, in the script's folder, and the script "
	 "itself. Time in other code (the standard library, installed packages) is charged to the line "
	 "of the project that called it. A folder behind a symlink is one folder, by whichever name the program knows it.\n\n"
	 "Not the project's, though below the root: .git and .venv there, the active virtual environment, the output folder "
	 "and what --ignore or the setting ignore names.\n\n"
	 "--detailed reports all code but what is ignored by --ignore or the setting. Which of it a "
	 "run was asked for is in its capture; summarize --detailed shows all code of a run that is over. "
	 "Where nothing of the project has a share worth listing, the report says so and lists all code."},
	{.name = "settings", .summary = "pyproject.toml, the environment, options: which one counts",
	 .text = "profile has four settings. For each, the first place that has it counts: an option; a variable; "
	 "the table [tool.fixingahole] of the nearest pyproject.toml that has one, from the current folder up to that "
	 "of the repository; the default. A pyproject.toml of another user's is passed over, unless the current folder is that user's, too.\n\n"
	 "    root      --root              FIXINGAHOLE_ROOT      the current folder\n"
	 "    output    --output-directory  FIXINGAHOLE_OUTPUT    performance\n"
	 "    ignore    --ignore            FIXINGAHOLE_IGNORE    none\n"
	 "    duration  --duration          FIXINGAHOLE_DURATION  relative\n\n"
	 "    [tool.fixingahole]\n"
	 "    root = \".\"\n"
	 "    output = \"profiling/results\"\n"
	 "    ignore = [\"scratch/\", \"old/\"]\n"
	 "    duration = \"absolute\"\n\n"
	 "Folders in options are relative to where you stand; in the file and in variables to root, and "
	 "root itself to the file's folder or to where you stand. FIXINGAHOLE_IGNORE has ':' between folders. "
	 "duration is relative (percent of the run) or absolute (seconds).\n\n"
	 "An unknown key, a value of another type or a file that is no TOML ends the run before it "
	 "begins, with file and line. fixingahole --version shows what is in force and where it comes from."},
	{.name = "time", .summary = "what the times of a report mean",
	 .text = "Time is that of the clock on the wall, and all shares together are the run: each moment is "
	 "divided among the threads and processes that run in it. One in which none runs is of those that want a core "
	 "then, and else what the main thread waits for. So work in parallel is not counted twice, and a join() has "
	 "nothing while workers run or want to.\n\n"
	 "    Python     the interpreter, running the line\n"
	 "    native     C code that the line calls: built-ins, numpy and the like\n"
	 "    system     the kernel, on the line's behalf\n"
	 "    waiting    for the GIL, a lock, a sleep, the disk, a socket, a pipe,\n"
	 "               the terminal or a child process\n\n"
	 "A thread that could run but has no core is not waiting: that time is with the lines that it runs, but for "
	 "what followed a sleep or another wait, which no line has. \"No core\" is the part of the run in which some "
	 "thread of the program wanted a core and none ran, with a line or without; it and what was waited do not "
	 "overlap. The threads that inspect lists have each their own, so theirs may add up to more.\n\n"
	 "Summary and trees show seconds instead of percent with --duration absolute."},
	{0},
};
/* clang-format on */

const struct fah_topic *fah_topic_find(const char *name)
{
	for (const struct fah_topic *t = fah_topics; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}
