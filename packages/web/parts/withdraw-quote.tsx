// A maker takes its quote back. It binds nobody afterwards, and may quote the order again.

import { messageOf } from '@parley/sdk/errors.ts';
import type { Thread } from '@parley/sdk/types.ts';
import { useMutation } from '@tanstack/react-query';
import { market } from '../market/client.ts';
import type { Standing } from '../market/offers.ts';
import { queries } from '../market/queries.ts';
import { text } from '../texts/texts.ts';
import { announce } from './announce.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

type Props = { readonly thread: Thread; readonly standing: Standing; readonly label?: string };

/** Draws nothing where no quote can be taken back, or the maker's own acceptance stands. */
export function WithdrawQuote({ thread, standing, label }: Props) {
  const taking = useMutation({
    mutationFn: () => market.withdrawQuote(thread.id),
    onSuccess: (withdrawn) => {
      queries.setQueryData(['thread', thread.id], withdrawn);
      void queries.invalidateQueries({ queryKey: ['quotes'] });
      announce(text('deal.withdraw.done'));
    },
  });
  if (!isFree(standing)) return null;
  return (
    <>
      <Button
        kind="quiet"
        busy={taking.isPending}
        onPress={() => taking.mutate()}
        {...(label === undefined ? {} : { label })}
      >
        {text('deal.withdraw')}
      </Button>
      {taking.error !== null && (
        <Notice kind="bad" title={text('deal.withdraw.failed')}>
          {messageOf(taking.error)}
        </Notice>
      )}
    </>
  );
}

function isFree({ is }: Standing): boolean {
  return is !== 'waits_for_them' && is !== 'closed' && is !== 'agreed';
}
