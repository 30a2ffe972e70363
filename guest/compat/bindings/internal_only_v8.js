// The binding `internal_only_v8`, which Node shows to its own library alone.
'use strict';

return { queryObjects: (prototype) => tools.host.v8.queryObjects(prototype) };
