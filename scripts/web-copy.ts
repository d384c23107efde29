// The rescue page as one HTML file: everything is inside, and its own policy lets nothing else run.
// A page from a disk may load no module beside it.

import { createHash } from 'node:crypto';
import { copyBuild } from '@parley/web/vite.config.ts';
import { build, type Rolldown } from 'vite';

/** Throws what is wrong in the sources. */
export async function rescuePage(): Promise<string> {
  const made = (await build(copyBuild())) as Rolldown.RolldownOutput;
  const chunks = made.output.filter((each) => each.type === 'chunk');
  const assets = made.output.filter((each) => each.type === 'asset');
  const html = assets.find(({ fileName }) => fileName.endsWith('.html'));
  const [script, ...more] = chunks;
  if (script === undefined || html === undefined || more.length > 0) {
    throw new Error(
      `the rescue page is ${made.output.length} files, and not one script and a page`,
    );
  }
  const styles = assets.filter(({ fileName }) => fileName.endsWith('.css'));
  // A closing tag inside the code would end the script early.
  const code = script.code.replaceAll('</script', '<\\/script');
  const style = styles.map(({ source }) => String(source)).join('\n');
  const policy = [
    "default-src 'none'",
    `script-src '${sourceOf(code)}'`,
    `style-src '${sourceOf(style)}'`,
    'img-src data:',
    // Nodes are named by a person, in any network.
    'connect-src https: http:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return String(html.source)
    .replace(/<script type="module"[^>]*><\/script>\s*/, '')
    .replaceAll(/<link rel="(?:stylesheet|modulepreload)"[^>]*>\s*/g, '')
    .replace(
      '<meta charset="utf-8">',
      () =>
        '<meta charset="utf-8">\n    ' +
        `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    )
    .replace('</head>', () => `  <style>${style}</style>\n  </head>`)
    .replace('</body>', () => `  <script type="module">${code}</script>\n  </body>`);
}

function sourceOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
