// The binding `internal_only_v8`, which Node shows to its own library alone.
'use strict';

return { queryObjects: tools.missing('internal_only_v8.queryObjects') };
