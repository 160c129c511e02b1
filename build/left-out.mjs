/** What `ws` does without where it is not installed: asked for at run time, it would take all of `node:module` with it. */
export const leftOut = {
  name: 'left-out',
  resolveId: {
    filter: { id: /^(?:bufferutil|utf-8-validate)$/ },
    handler: (id) => ({ id: `\0left-out:${id}` }),
  },
  load: {
    filter: { id: /^\0left-out:/ },
    handler: (id) => ({ code: `throw new Error('${id.split(':').at(-1)} is left out')`, moduleType: 'js' }),
  },
}
