// As worker.ts, where people run the driver of the Python package.

import './hooks.ts';

// After the hooks: their imports are resolved through them.
const { drivenBy } = await import('./drivers.ts');
const { openPython } = await import('./python.ts');
drivenBy(await openPython());
await import('./worker.ts');
