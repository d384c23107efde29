// The open requests for quotes.

import { useQuery } from '@tanstack/react-query';
import { market } from '../../market/client.ts';
import { Answer, Empty } from '../../parts/answer.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Table } from '../../parts/table.tsx';
import { text } from '../../texts/texts.ts';

export function Book() {
  const rfqs = useQuery({
    queryKey: ['rfqs'],
    queryFn: ({ signal }) => market.rfqs({}, { signal }),
    refetchInterval: 3_000,
  });
  return (
    <Screen title={text('book.title')}>
      <Answer of={rfqs}>
        {(page) =>
          page.rfqs.length === 0 ? (
            <Empty>{text('book.empty')}</Empty>
          ) : (
            <Table
              caption={text('book.title')}
              columns={[{ key: 'amount', label: text('book.amount'), cell: (r) => r.baseAmount }]}
              rows={page.rfqs}
              keyOf={({ id }) => id}
            />
          )
        }
      </Answer>
    </Screen>
  );
}
