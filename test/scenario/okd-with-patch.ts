import { okdOlm, type OlmShape } from '../../src/simulator/olm/olm-shape.ts'

/** OKD's HyperConverged 1.17.3 with z-streams behind it, in the channel that is set: 1.17.4, and as many more. */
export function okdWithPatch(more = 0): OlmShape {
  const shape = okdOlm()
  const stem = 'kubevirt-hyperconverged-operator.v'
  const channels = shape.channels.map(({ name, entries }) => {
    const last = entries.at(-1)
    if (name !== shape.channel || last === undefined) return { name, entries }
    const patches = Array.from({ length: 1 + more }, (_, at) => ({
      ...last,
      name: `${stem}1.17.${4 + at}`,
      version: `1.17.${4 + at}`,
      replaces: `${stem}1.17.${3 + at}`,
    }))
    return { name, entries: [...entries, ...patches] }
  })
  return { ...shape, channels }
}
