// Turns this Node into a guest engine: the addon takes the main thread over and never gives it back.
'use strict';

require('./tare_guest.node').serve(process.argv[2]);
