// The same in Node, which has a disk.

// biome-ignore lint/performance/noBarrelFile: as in index.ts.
export * from './index.ts';
export { fileStore } from './stores/file.ts';
