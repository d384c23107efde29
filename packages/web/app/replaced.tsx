// Said over any screen: the account that it showed was signed out of elsewhere, or another one was
// signed in to.

import { useReplaced } from '../market/session.ts';
import { Button } from '../parts/button.tsx';
import { Notice } from '../parts/notice.tsx';
import { text } from '../texts/texts.ts';

export function Replaced() {
  const { replaced, dismiss } = useReplaced();
  if (!replaced) return null;
  return (
    <Notice
      kind="warn"
      title={text('session.replaced')}
      action={<Button onPress={dismiss}>{text('session.replaced.read')}</Button>}
    >
      {text('session.replaced.safe')}
    </Notice>
  );
}
