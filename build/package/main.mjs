// What the one file starts with: it does what the program of that name in bin/ does. Every other name is kvup.
const called = (process.argv[1] ?? '').split(/[\\/]/).at(-1)
await (/^(?:kubectl|oc)_complete-/.test(called)
  ? import('./bin/kubectl_complete-kvup.js')
  : import('./bin/kvup.js'))
