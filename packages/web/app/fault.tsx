// A screen that failed: the error, and that no money moved by it.

import { messageOf } from '@parley/sdk/errors.ts';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { Button } from '../parts/button.tsx';
import { Notice } from '../parts/notice.tsx';
import { Screen } from '../parts/screen.tsx';
import { text } from '../texts/texts.ts';

export function Fault({ error, reset }: ErrorComponentProps) {
  const again = <Button onPress={reset}>{text('fault.again')}</Button>;
  return (
    <Screen title={text('fault.title')} narrow>
      <Notice kind="bad" action={again}>
        <p>{text('fault.safe')}</p>
        <pre lang="en">{messageOf(error)}</pre>
      </Notice>
    </Screen>
  );
}
