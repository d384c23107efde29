// Modules that a bundler knows and TypeScript does not.

declare module '*.css';
