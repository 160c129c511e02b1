import { expect, test } from 'vitest'
import type { PolicyRule } from '../../src/lib/kube/kinds/extension-kinds.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { type RoleName, roleNames } from '../../src/lib/upgrade/role-rights.ts'
import { rolesFor } from '../../src/lib/upgrade/roles.ts'
import { runText } from '../lib/run-text.ts'
import { grantTo } from './granted.ts'
import type { Stage } from './stage.ts'
import { documentOf, outdated } from './updates.ts'

const anyImage: ReadonlySet<RoleName> = new Set(['kvup-settings', 'kvup-upgrade', 'kvup-operator-manifest'])
const writes = ({ verbs, resources }: PolicyRule) =>
  verbs.includes('patch') &&
  (resources ?? []).some((resource) => ['kubevirts', 'hyperconvergeds'].includes(resource))

test('L4 who moves VMs may not write the KubeVirt, nor what writes it', () => {
  const rules = rolesFor('kvup-workloads', 'kubevirt').flatMap((role) => role.rules ?? [])
  expect(rules.filter(writes)).toEqual([])
  expect(rules.some(({ resources }) => resources?.includes('virtualmachineinstancemigrations'))).toBe(true)
})

test.each(roleNames)('L4 a role that can name any image says so where it is printed: %s', async (role) => {
  const can = rolesFor(role, 'kubevirt')
    .flatMap(({ rules }) => rules ?? [])
    .some((rule) => writes(rule) && rule.resources?.includes('kubevirts'))
  expect(can).toBe(anyImage.has(role))
  const { out } = await runText(['rbac', role], { cluster: undefined as never, clock: new SimClock() })
  expect(/run any\s+# image as root on every node|every right of virt-operator/u.test(out)).toBe(can)
})

/** Jane has this role, in both of its parts. */
function asJane(stage: Stage, role: RoleName) {
  grantTo(stage, 'jane', rolesFor(role, 'kubevirt'))
  return { cluster: stage.simulated.cluster({ user: 'jane' }) }
}

test('L4 with kvup-workloads VMs are moved while updates are held, and settings are refused', async () => {
  await outdated(2, async (stage) => {
    const jane = asJane(stage, 'kvup-workloads')
    expect(await stage.hold({}, jane)).toMatchObject({ code: 0 })
    const ended = await stage.update({}, jane)
    expect(ended).toMatchObject({ code: 0 })
    expect(documentOf(ended)).toMatchObject({ totals: { migrated: 2 } })
    stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
    const refused = await stage.hold({}, jane)
    expect(refused).toMatchObject({ code: 7 })
    expect(refused.text).toContain('kvup rbac kvup-settings')
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

test('L4 with kvup-settings an update holds for its time', async () => {
  await outdated(
    2,
    async (stage) => {
      expect(await stage.restore()).toMatchObject({ code: 0 })
      const jane = asJane(stage, 'kvup-settings')
      expect(await stage.update({}, jane)).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
    },
    ['LiveMigrate'],
  )
})
