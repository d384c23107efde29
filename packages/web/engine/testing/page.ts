// Tests only: the engine of a page.

import { show } from '../../market/own-site.ts';
import { pageEngine } from '../page.ts';

export { pageEngine, show };
