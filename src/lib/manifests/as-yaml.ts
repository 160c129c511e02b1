import { stringify } from 'yaml'
import type { KubeObject } from '../cluster/object.ts'

/** One document per object, each after `---`. */
export function asYaml(objects: readonly KubeObject[]): string {
  return objects
    .map((object) => `---\n${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`)
    .join('')
}
