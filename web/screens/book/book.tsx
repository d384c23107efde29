// The open requests for quotes.

import { useQuery } from '@tanstack/react-query';
import { market } from '../../market/client.ts';
import { text } from '../../texts/texts.ts';

export function Book() {
  const { data, error, isPending } = useQuery({
    queryKey: ['rfqs'],
    queryFn: ({ signal }) => market.rfqs({}, { signal }),
    refetchInterval: 3_000,
  });
  return (
    <section>
      <h1>{text('book.title')}</h1>
      {isPending && <p role="status">{text('common.loading')}</p>}
      {error !== null && <p role="alert">{error.message}</p>}
      <ul>
        {data?.rfqs.map(({ id, baseAmount }) => (
          <li key={id}>{baseAmount}</li>
        ))}
      </ul>
    </section>
  );
}
