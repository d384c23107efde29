-- Chains on which nothing new is traded until an operator resumes them. Each of their assets is held
-- closed by it too (closings.chain), those that are listed meanwhile from their first moment on.

create table halts (
  chain text primary key,
  reason text not null,
  at timestamptz not null
);
