// What a key may do beyond what every valid key can: specification part 5.

export const scopes = ['read', 'taker', 'maker'] as const;
export type Scope = (typeof scopes)[number];
