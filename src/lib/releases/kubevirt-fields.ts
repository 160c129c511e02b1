import table from './kubevirt-fields.json' with { type: 'json' }
import { reaches } from './release-path.ts'
import { minorOf, type Version } from './release-versions.ts'

/** The minors that a field came and went with; the second only where it is gone. */
const minorsOf: Readonly<Record<string, readonly string[]>> = table.fields

/** Fields of the KubeVirt's `spec.configuration` that this release lacks: an API server prunes them. Paths below it, in which `*` stands for any key. */
export const lackingFields = (release: Version): readonly string[] =>
  Object.entries(minorsOf).flatMap(([path, [first = '', last]]) => {
    const isGone = last !== undefined && minorOf(release) !== last && reaches(release, last)
    return isGone || !reaches(release, first) ? [path] : []
  })

const configuration = 'spec.configuration.'

/** The minor that brings a field of the KubeVirt (`spec.configuration.hypervisors`) which this release lacks; undefined of one that it has. */
export function bringsField(release: Version, field: string): string | undefined {
  const lacking = lackingFields(release).find((path) => `${field}.`.startsWith(`${configuration}${path}.`))
  return lacking === undefined ? undefined : minorsOf[lacking]?.[0]
}
