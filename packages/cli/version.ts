// Which version it is: that of its package.

import manifest from './package.json' with { type: 'json' };

export const { version } = manifest;
