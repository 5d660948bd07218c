# For habit; ./fixit and ./check do the work and set up what is missing.
.PHONY: all check full format clean

all:
	@./fixit --version

check:
	@./check

full:
	@./check --full

format:
	@tools/format

clean:
	rm -rf build build-check .venv
