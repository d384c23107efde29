// For tests in Node: the app speaks English, with the numbers of the machine.

import { first } from './en/first.ts';
import { rest } from './en/rest.ts';
import { speakBy } from './texts.ts';

speakBy({ language: 'en', locale: undefined, first, rest });
