# Four commands: `make demo`, `make paper`, `make quick` for daily work and `make test` for everything. Each sets up what it needs in
# .venv, and no more.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed
READY := .venv/ready
DRAWING := .venv/drawing

.PHONY: demo demo-serve paper quick test check fuzz robust mutants bench site look constraints floors dist clean

demo: $(INSTALLED)
	$(BIN)/jurors demo

# A server with a stream of made-up votes in which a judge goes bad; the address is printed, Ctrl-C ends it.
demo-serve: $(INSTALLED)
	$(BIN)/pip install -q -c constraints.txt -e '.[serve]'
	$(BIN)/python examples/demo_serve.py

# Every table and figure of the paper and its census experiment, as a page: build/paper/index.html. `make paper DATA=census.parquet`
# names the census records; `make paper OPTIONS='--tests 30'` passes options on (`python -m reproduce --help`).
paper: $(DRAWING)
	$(BIN)/python -m reproduce $(DATA:%=--data %) $(OPTIONS)

# Compiled tests are kept, whatever the shell says: compiling them anew takes each worker longer than many rooms' tests.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest -q --benchmark-disable -n 2

# Importing these takes longer than their few examples.
SKLEARN := independence.py

# Under a minute: no Spark, Dask, browser, notebook or scikit-learn, nothing slow, and few examples of each law and table.
quick: $(READY)
	$(BIN)/ruff check .
	$(PYTEST) -p no:schemathesis --dist worksteal --ignore-glob='*/__init__.py' $(SKLEARN:%=--ignore=reproduce/%) -m 'not (engine or browser or notebook or slow)' --hypothesis-profile quick $(COVERAGE)

# `make test COVERAGE=--cov` also says how much of the code the tests run. A file's tests run on one worker, which starts
# its engine or browser once; in their order, so that the many small examples of src are left for the end.
test: check
	$(PYTEST) --dist loadfile --no-loadscope-reorder $(COVERAGE)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Hostile files and flags through every command; `make fuzz CASES=5000 SEED=2` for others. It says how to see one again.
CASES ?= 100000
SEED ?= 1
fuzz: $(READY)
	PYTHONPATH=tests $(BIN)/python -m fuzz --cases $(CASES) --seed $(SEED)

# Every writing command killed at random moments, and on full disks (root): nothing torn, lost or left.
robust: $(READY)
	cd tests && PYTHONPATH=. ../$(BIN)/python -m robust kills
	cd tests && PYTHONPATH=. ../$(BIN)/python -m robust full
	cd tests && PYTHONPATH=. ../$(BIN)/python -m robust.serving kills
	cd tests && PYTHONPATH=. ../$(BIN)/python -m robust.serving kills --store postgresql
	cd tests && PYTHONPATH=. ../$(BIN)/python -m robust.serving restart --times 6
	cd tests && PYTHONPATH=. ../$(BIN)/python -m robust.serving full
	cd tests && PYTHONPATH=. ../$(BIN)/python -m robust.serving poison

# Does a test notice when the heart of the package is broken? `make mutants SAMPLE=1000` for more.
SAMPLE ?= 300
mutants: $(READY)
	PYTHONPATH=tests $(BIN)/python -m mutation --sample $(SAMPLE)

# The docs as a site that needs no network: open build/site/index.html. Every link of it is followed.
site: $(INSTALLED)
	$(BIN)/pip install -q -c constraints.txt -e '.[lab,plot,site]'
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python website/make_site.py

# The site in Chromium, wide and narrow, light and dark: nothing fails, moves or is too wide; search works without a network.
look: $(READY) site
	$(BIN)/python website/look_at_site.py

bench: $(READY)
	$(BIN)/pip install -q -c constraints.txt -e '.[bench]'
	for script in benchmarks/*.py; do echo "== $$script"; PYTHONPATH=tests $(BIN)/python $$script || exit 1; done

# Every command with the lowest and the newest versions that pyproject.toml allows: `make floors PYTHONS='python3.11 python3.13'`.
floors:
	$(PYTHON) tests/floors.py $(PYTHONS)

# Wheel, sdist and SBOM, built and tried in clean environments: `make dist PYTHONS='python3.11 python3.12 python3.13'`.
dist:
	$(PYTHON) tests/dist.py $(PYTHONS)

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("jurors needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install -q -c constraints.txt -e .
	touch $@

# Classifiers and charts.
$(DRAWING): $(INSTALLED)
	$(BIN)/pip install -q -c constraints.txt -e '.[lab,plot]'
	touch $@

# All engines, tools and checks that the tests need.
$(READY): $(INSTALLED)
	$(BIN)/pip install -q -c constraints.txt -e '.[dev]'
	touch $@

# The pinned development environment: resolved by pip, names and versions only.
constraints:
	rm -rf .venv-constraints
	$(PYTHON) -m venv .venv-constraints
	.venv-constraints/bin/pip install -q '.[dev,bench,site]'
	.venv-constraints/bin/pip freeze --exclude jurors | grep -v ' @ ' > constraints.txt
	rm -rf .venv-constraints

clean:
	rm -rf .venv .venv-constraints .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage build dist
