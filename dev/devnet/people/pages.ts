// The few pages of the dev network for people: no script, nothing from elsewhere, never in a frame.
// Text that others wrote is escaped by `html`, so that a page cannot forget it.

import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
article { border: 1px solid; border-radius: .5rem; padding: 0 1rem 1rem; margin: 1rem 0; }
h2 { font-size: 1.1rem; margin-bottom: 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
p.facts { margin-top: 0; opacity: .75; overflow-wrap: anywhere; }
form { display: inline; }
input, button { font: inherit; padding: .25rem .5rem; }
`;
const styleHash = createHash('sha256').update(style).digest('base64');

/** Text that is a page's own: everything that `html` puts into it is escaped. */
export type Html = { readonly html: string };

export function html(parts: TemplateStringsArray, ...values: (string | Html | readonly Html[])[]) {
  const all = parts.map((part, index) => part + escaped(values[index] ?? ''));
  return { html: all.join('') } satisfies Html;
}

function escaped(value: string | Html | readonly Html[]): string {
  if (typeof value !== 'string') {
    return 'html' in value ? value.html : value.map((each) => each.html).join('');
  }
  return value.replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
}

export type Page = { readonly title: string; readonly head?: Html; readonly body: Html };

/** `formTargets`: where answers to its forms may lead; form-action is of redirects too. */
export function sendPage(
  response: ServerResponse,
  status: number,
  page: Page,
  formTargets: readonly string[] = [],
): void {
  const text = pageText(page);
  const headers = { ...pageHeaders(formTargets), 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, headers);
  response.end(text);
}

export function pageText({ title, head = { html: '' }, body }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${head}
<title>${title}</title><style>${{ html: style }}</style></head>
<body><main><h1>${title}</h1>
${body}
</main></body>
</html>
`.html;
}

export function pageHeaders(formTargets: readonly string[] = []): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-resource-policy': 'same-origin',
    // Not no-referrer, which makes the Origin of a form on the same page "null".
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  };
}
