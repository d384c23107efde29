-- The session that published a level, null where a key did: signed out of, its levels are not shown.
-- No reference: a session is dropped days after its end, and a level lasts an hour at most.

alter table levels add column session_id uuid;
