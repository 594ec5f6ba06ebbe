# `make demo` finds, proves and checks the toy models' circuits, exact and softmax; `make test` sets up and runs the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-fast portability lint docs bench tracr nightly clean
.DEFAULT_GOAL := demo

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[torch,solvers,report,cluster,docs,dev]'
	$(BIN)/python -m compileall -q src
	touch $(READY)

demo: $(READY)
	$(BIN)/circuitproof localise recipes/toy-localisation.toml --out build/demo --figure build/demo.png --force
	$(BIN)/python -I -m circuitproof_check build/demo/bundles/quotes --against build/demo/training/model
	$(BIN)/python -I -m circuitproof_check build/demo/bundles/brackets --against build/demo/training/model
	-$(BIN)/circuitproof minimal --model build/demo/training/model --task quotes --out build/demo/bundles/fewest-edges --force
	$(BIN)/circuitproof remove-norm recipes/toy-norm-free.toml --out build/demo/norm-free
	$(BIN)/circuitproof train recipes/toy-softmax.toml --out build/demo-softmax/run
	$(BIN)/circuitproof extract --model build/demo-softmax/run/model --task quotes --out build/demo-softmax/circuit.json --force
	$(BIN)/circuitproof verify --model build/demo-softmax/run/model --task quotes --circuit build/demo-softmax/circuit.json --epsilon 1/100 --out build/demo-softmax/bundle --force
	$(BIN)/python -I -m circuitproof_check build/demo-softmax/bundle --against build/demo-softmax/run/model
	@$(BIN)/circuitproof report build/demo --out build/demo.html --force || [ $$? = 4 ]  # the fewest edges may be undecided

# With COVERAGE set, branch coverage is measured and must reach its floor; that takes about twice as long.
test: $(READY)
	$(BIN)/pytest -n auto --dist worksteal $(if $(COVERAGE),--cov --cov-report=term)

# The laws that most changes touch, in a minute.
test-fast: $(READY)
	$(BIN)/pytest -n auto --dist worksteal -m "not slow" tests/files tests/tasks tests/programs tests/circuits tests/models tests/arithmetic tests/forward tests/bundle/test_golden.py tests/check/test_gates.py tests/check/test_grammar.py tests/cli/test_main.py tests/test_architecture_page.py

# The whole suite, or TESTS, as other machines would see it: a line for each of torch's kernels, threads and seeds.
# Threads wait asleep, as in our commands: two processes of two threads that spin take a third longer.
portability: $(READY)
	@mkdir -p build/portability; failed=0; \
	for kernels in default avx2; do for threads in 1 2; do for seed in 1 2 3; do \
	    log=build/portability/$$kernels-$$threads-$$seed.txt; \
	    ATEN_CPU_CAPABILITY=$$kernels OMP_NUM_THREADS=$$threads OMP_WAIT_POLICY=PASSIVE $(BIN)/pytest -q -n auto --dist worksteal \
	        --hypothesis-seed=$$seed $(TESTS) > $$log 2>&1 || failed=1; \
	    echo "$$kernels kernels, $$threads threads, seed $$seed: $$(tail -n 1 $$log)"; \
	done; done; done; exit $$failed

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright
	$(BIN)/vulture

# The site, in build/site; a page outside the order of pages, or a link or anchor that leads nowhere, is an error.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

bench: $(READY)
	for script in circuits battery lists jobs extraction training waiting construction robustness synthesis surrogate patterns solvers page gallery; do PYTHONPATH=tests $(BIN)/python benchmarks/$$script.py || exit 1; done

# Programs of Tracr's library, compiled in an environment of their own (jax comes with it), then proved and scored in ours.
TRACR := build/tracr-environment
$(TRACR)/.ready: pyproject.toml
	$(PYTHON) -m venv $(TRACR)
	$(TRACR)/bin/pip install --quiet --disable-pip-version-check -e '.[tracr]'
	touch $@

tracr: $(READY) $(TRACR)/.ready
	for program in length histogram frac-prevs sort-unique detect-pattern count-less-freq sort pair-balance reverse dyck; do \
	    $(TRACR)/bin/circuitproof import-tracr $$program --out build/tracr/$$program --force || exit 1; done
	$(BIN)/python benchmarks/tracr.py build/tracr

# What is too long for a test: the slow rows of the gallery, every mutant, and random bundles by a range of seeds (both go on where they were
# stopped), thousands of changes and examples, enclosures of ten thousand
# random models against mpmath, and the shapes of tensors enforced wherever they occur.
SEEDS ?= 0:100000
CASES ?= 10000
nightly: $(READY)
	PYTHONPATH=tests $(BIN)/python tests/attack.py --seeds $(SEEDS) --out build/attack
	PYTHONPATH=tests $(BIN)/python tests/mutant_hunt.py --out build/mutants
	CIRCUITPROOF_CHANGES=100000 CIRCUITPROOF_EXAMPLES=1000 $(BIN)/pytest -n auto tests/forgeries tests/check tests/verbs/test_radii.py
	CIRCUITPROOF_CASES=10000 $(BIN)/pytest tests/forward/test_forward.py -k random
	CIRCUITPROOF_CASES=$(CASES) $(BIN)/pytest -n auto tests/proof/test_enclosed_numbers.py -k "logits_are_within or what_is_proved"
	CIRCUITPROOF_EXAMPLES=2000 $(BIN)/pytest -n auto tests/forward/test_ablation.py tests/proof/test_widened.py
	CIRCUITPROOF_GALLERY=1 $(BIN)/pytest tests/cli/test_gallery.py tests/cli/test_howto_gpt2.py
	CIRCUITPROOF_NOTEBOOKS=1 $(BIN)/pytest tests/test_examples.py
	CIRCUITPROOF_SHAPES=1 $(BIN)/pytest -n auto --dist worksteal tests/lab tests/cli

clean:
	rm -rf $(VENV) build .pytest_cache .ruff_cache .hypothesis .coverage* .import_linter_cache
