// What came of looking for a bug.

import type { Bug } from './bugs.ts';

/** All is well, a promise broke, or a process only ended or threw, which says nothing. */
export type Looked = 'well' | { readonly rule: string } | { readonly crashed: string };

/** `bug`: null = the sources as they are. */
export type Look = (what: string, bug: Bug | null, env: NodeJS.ProcessEnv) => Promise<Looked>;
