import { describe, expect, test } from 'vitest'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
} from '../../../src/lib/kube/kinds/extension-kinds.ts'
import type { Backend } from '../contract-backend.ts'
import { fresh, objectIn, refOf, refusal } from './objects.ts'

type Versions = NonNullable<NonNullable<CustomResourceDefinition['spec']>['versions']>

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
/** The last one is stored. */
const versionsOf = (...names: string[]): Versions =>
  names.map((name, i) => ({ name, served: true, storage: i === names.length - 1, schema }))

function definition(versions: Versions): CustomResourceDefinition {
  const singular = fresh('thing').replaceAll('-', '')
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.contract.kvup.io` },
    spec: {
      group: 'contract.kvup.io',
      scope: 'Namespaced',
      names: { plural: `${singular}s`, singular, kind: singular, listKind: `${singular}List` },
      versions,
    },
  }
}

export function definitionPromises(backend: Backend): void {
  const writer = () => backend().cluster.writer
  const reader = () => backend().cluster.reader
  /** As virt-operator v1.8 and v1.9 leave the CRD of exports behind. */
  const [older, newer] = [versionsOf('v1alpha1', 'v1beta1'), versionsOf('v1beta1', 'v1')]

  async function replaced(): Promise<CustomResourceDefinition> {
    const made = await writer().create(CustomResourceDefinitions, definition(older))
    expect(made.status?.storedVersions).toEqual(['v1beta1'])
    return writer().mergePatch(CustomResourceDefinitions, refOf(made), { spec: { versions: newer } })
  }

  describe('CustomResourceDefinition', () => {
    test('what it stores from now on is in storedVersions at once, and one that lacks it is refused', async () => {
      const ahead = await replaced()
      expect(ahead.status?.storedVersions).toEqual(['v1beta1', 'v1'])
      const error = await refusal(
        writer().mergePatch(CustomResourceDefinitions, refOf(ahead), { spec: { versions: older } }),
      )
      expect(error).toMatchObject({ status: 422, statusReason: 'Invalid' })
      expect(error.message).toContain(
        'status.storedVersions[1]: Invalid value: "v1": missing from spec.versions',
      )
      const found = objectIn(await reader().get(CustomResourceDefinitions, refOf(ahead)))
      expect(found.spec?.versions?.map(({ name }) => name)).toEqual(['v1beta1', 'v1'])
    })

    test('its status may forget even what it stores; then one that lacks it is taken', async () => {
      const ahead = await replaced()
      const forgotten = await writer().mergePatch(
        CustomResourceDefinitions,
        refOf(ahead),
        { status: { storedVersions: ['v1beta1'] } },
        'status',
      )
      expect(forgotten.status?.storedVersions).toEqual(['v1beta1'])
      const back = await writer().mergePatch(CustomResourceDefinitions, refOf(ahead), {
        spec: { versions: older },
      })
      expect(back.status?.storedVersions).toEqual(['v1beta1'])
    })
  })
}
