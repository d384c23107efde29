// The chains as the market sees them.

import { Screen } from '../../parts/screen.tsx';
import { text } from '../../texts/texts.ts';

export function Status() {
  return <Screen title={text('status.title')}>{null}</Screen>;
}
