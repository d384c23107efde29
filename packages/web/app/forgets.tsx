// Said over every screen of a browser that keeps nothing: no swap may begin whose keys it forgets.

import { useQuery } from '@tanstack/react-query';
import { keepsKeys } from '../offline/keeps-keys.ts';
import { Notice } from '../parts/notice.tsx';
import { text } from '../texts/texts.ts';

export function Forgets() {
  const { data: keeps = true } = useQuery({
    queryKey: ['keeps keys'],
    queryFn: keepsKeys,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (keeps) return null;
  return (
    <Notice kind="warn" title={text('layout.forgets')}>
      <p>{text('layout.forgets.why')}</p>
      <p>{text('layout.forgets.mend')}</p>
    </Notice>
  );
}
