// For tests in Node: the app speaks English, with the numbers of the machine.

import first from './en/first.json' with { type: 'json' };
import rest from './en/rest.json' with { type: 'json' };
import { spoken } from './texts.ts';

spoken.set({ language: 'en', locale: undefined, first, rest });
