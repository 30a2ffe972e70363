// internalBinding('module_wrap')
'use strict';

tools.binding('contextify'); // sets up what the two have in common
const made = tools.plain('module_wrap');
delete made.unsettledAwait; // the engine's own question
return made;
