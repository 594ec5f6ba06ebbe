"""The page people look at: a bundle or a run as data, the data as parts, the parts as HTML or as text.

May use: text, declare, exact, forward, prove, bundle.
Names: `story.tell`, `data.story_to_json`, `explain.explain`, `page.bundle_text`, `plain.as_text`,
`reporting.report_on`.
"""
