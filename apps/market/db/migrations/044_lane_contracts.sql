-- Terms name their contract: a chain may have several, and the first of them may become another one.
update escrows
  set terms = jsonb_set(terms, '{lane,contract}', to_jsonb(split_part(address, ':', 1)))
  where terms -> 'lane' is not null and terms -> 'lane' -> 'contract' is null;
