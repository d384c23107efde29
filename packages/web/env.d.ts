// Modules that a bundler knows and TypeScript does not.

declare module '*.css';

/** The shapes of an icon in `currentColor`, on a field of 24 by 24 (vite.config.ts). */
declare module '@iconify-json/token/icon/*' {
  const shapes: string;
  export default shapes;
}
