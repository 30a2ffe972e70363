// internalBinding('module_wrap')
'use strict';

tools.binding('contextify'); // sets up what the two have in common
return tools.plain('module_wrap');
