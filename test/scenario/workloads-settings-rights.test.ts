import { describe, expect, test } from 'vitest'
import type { PolicyRule } from '../../src/lib/kube/kinds/extension-kinds.ts'
import { isWrite } from '../../src/simulator/api/api-request.ts'
import { rolesFor } from '../../src/lib/upgrade/roles.ts'
import { grantTo } from './granted.ts'
import { owners } from './settings-owners.ts'
import { play, type Stage } from './stage.ts'

const user = 'jane'

/** The role kvup-settings, but for one verb on one resource. */
function grant(stage: Stage, missing?: readonly [verb: string, resource: string]): void {
  const [everywhere, here] = rolesFor('kvup-settings', 'kubevirt')
  const less = (rules: readonly PolicyRule[] = []) =>
    rules.map((rule) =>
      missing !== undefined && rule.resources?.includes(missing[1])
        ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== missing[0]) }
        : rule,
    )
  grantTo(stage, user, [
    { ...everywhere, rules: less(everywhere.rules) },
    { ...here, rules: less(here.rules) },
  ])
}

const asJane = (stage: Stage) => ({ cluster: stage.simulated.cluster({ user }) })
const records = ({ simulated }: Stage) => simulated.store.audit.filter((record) => record.user === user)

describe.each(owners.filter(({ name }) => !name.endsWith('preferred')))(
  'contract: rights of kvup workloads, $name',
  ({ shape, kind }) => {
    test('the role kvup-settings is enough, and nothing is refused on the way', () =>
      play(shape, async (stage) => {
        grant(stage)
        const jane = asJane(stage)
        expect(await stage.strategy({ batchSize: '3' }, jane)).toMatchObject({ code: 0 })
        expect(await stage.hold({}, jane)).toMatchObject({ code: 0 })
        expect(await stage.showStrategy(jane)).toMatchObject({ code: 0 })
        expect(await stage.restore({}, jane)).toMatchObject({ code: 0 })
        expect(records(stage).filter(({ status }) => status === 403)).toEqual([])
      }))

    const written = kind === 'KubeVirt' ? 'kubevirts' : 'hyperconvergeds'
    test.each([
      ['patch', written],
      ['patch', 'configmaps'],
      ['create', 'leases'],
    ] as const)('without %s on %s: exit 7, and nothing was written', (verb, resource) =>
      play(shape, async (stage) => {
        grant(stage, [verb, resource])
        const refused = await stage.hold({}, asJane(stage))
        expect(refused).toMatchObject({ code: 7 })
        expect(refused.text).toContain('kvup rbac kvup-settings')
        expect(records(stage).filter(isWrite)).toEqual([])
      }),
    )

    test('it needs no right on what somebody else owns', () =>
      play(shape, async (stage) => {
        grant(stage, ['patch', kind === 'KubeVirt' ? 'hyperconvergeds' : 'kubevirts'])
        expect(await stage.hold({}, asJane(stage))).toMatchObject({ code: 0 })
      }))
  },
)
