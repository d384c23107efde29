// The remedy for a rescue file that cannot be used. Pure.

import { messageOf, RescueError } from '@parley/sdk/errors.ts';
import { text } from '../../texts/texts.ts';

const known = [
  'foreign_file',
  'newer_file',
  'bad_file',
  'other_phrase',
  'other_network',
  'too_large',
] as const;

export function faultOf(error: unknown): string {
  const code = error instanceof RescueError ? error.code : null;
  const found = known.find((each) => each === code);
  return found === undefined ? messageOf(error) : text(`rescue.fault.${found}`);
}
