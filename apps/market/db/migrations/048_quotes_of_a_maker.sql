-- What a maker has quoted and is still open.

create index threads_open_by_maker on threads (maker_id, id desc) where status = 'open';
