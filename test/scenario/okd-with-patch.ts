import { okdOlm, type OlmShape } from '../../src/simulator/olm/olm-shape.ts'

/** OKD's HyperConverged 1.17.3 with a z-stream behind it, in the channel that is set: 1.17.4. */
export function okdWithPatch(): OlmShape {
  const shape = okdOlm()
  const stem = 'kubevirt-hyperconverged-operator.v'
  const channels = shape.channels.map(({ name, entries }) => {
    const last = entries.at(-1)
    if (name !== shape.channel || last === undefined) return { name, entries }
    const patch = { ...last, name: `${stem}1.17.4`, version: '1.17.4', replaces: `${stem}1.17.3` }
    return { name, entries: [...entries, patch] }
  })
  return { ...shape, channels }
}
