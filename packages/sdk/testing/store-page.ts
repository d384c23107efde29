// Tests only: the module of a page that holds stores for a test outside of it.

import { openDatabase } from '../stores/database.ts';
import { indexedDbStore } from '../stores/indexed-db.ts';

Object.assign(globalThis, { indexedDbStore, openDatabase });
