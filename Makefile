# `make demo` trains the toy model and runs its circuits; `make test` sets up and runs the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint bench clean
.DEFAULT_GOAL := demo

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[torch,solvers,report,dev]'
	touch $(READY)

demo: $(READY)
	$(BIN)/circuitproof train recipes/toy.toml --out build/demo
	$(BIN)/circuitproof evaluate build/demo/model
	$(BIN)/circuitproof train recipes/toy-band.toml --out build/demo-band
	rm -rf build/demo-band/bundle
	$(BIN)/circuitproof verify --model build/demo-band/model --task quotes \
	    --property equivalence --property invariance --out build/demo-band/bundle
	$(BIN)/circuitproof-check build/demo-band/bundle --against build/demo-band/model
	-$(BIN)/circuitproof minimal build/demo-band/model --task quotes

# With CI set, branch coverage is measured and must reach its floor; that takes about twice as long.
test: $(READY)
	$(BIN)/pytest -n auto --dist worksteal $(if $(CI),--cov --cov-report=term)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright

bench: $(READY)
	for script in circuits battery extraction; do PYTHONPATH=tests $(BIN)/python benchmarks/$$script.py || exit 1; done

clean:
	rm -rf $(VENV) build .pytest_cache .ruff_cache .hypothesis .coverage* .import_linter_cache
