"""What happens to tests of pages where there is no browser."""

import pytest

import browsers


def test_without_a_browser_tests_are_skipped_with_what_to_install(monkeypatch):
    """Whoever runs the tests at home needs no browser, and learns how to get one."""
    monkeypatch.setattr(browsers, "binary", lambda: None)
    monkeypatch.delenv(browsers.DEMAND, raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"), browsers.launched():
        pass


def test_where_a_browser_is_demanded_its_absence_is_a_failure(monkeypatch):
    """A run that must look at pages is not green because it could not."""
    monkeypatch.setattr(browsers, "binary", lambda: None)
    monkeypatch.setenv(browsers.DEMAND, "required")
    with pytest.raises(pytest.fail.Exception, match="CIRCUITPROOF_BROWSER is set"), browsers.launched():
        pass
