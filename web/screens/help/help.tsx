// What a swap is and what can happen, in short.

import { Screen } from '../../parts/screen.tsx';
import { text } from '../../texts/texts.ts';

export function Help() {
  return (
    <Screen title={text('help.title')} narrow>
      {null}
    </Screen>
  );
}
