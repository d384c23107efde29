// What the first screen says, and what stands around every screen.

import { common } from './common.ts';
import { session } from './session.ts';
import { swapBox } from './swap-box.ts';

export const first = { ...common, ...session, ...swapBox };
