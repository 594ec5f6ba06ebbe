"""The page people look at: a bundle as data, the data as parts, the parts as HTML or as text.

Names: `bundle_view.tell`, `bundle_view.BundleView`, `page.bundle_page`, `page.bundle_text`,
`page.bundle_fragment`, `reporting.look_at`, `explain.explain`.
"""
