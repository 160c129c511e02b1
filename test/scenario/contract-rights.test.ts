// An upgrade without each single right of its role: more than 3 s of processor time.
import { describe, expect, test } from 'vitest'
import type { PolicyRule, Role } from '../../src/lib/kube/kinds/extension-kinds.ts'
import { isWrite } from '../../src/simulator/api/api-request.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { type Right, rightsOf, type RoleName } from '../../src/lib/upgrade/role-rights.ts'
import { rolesFor } from '../../src/lib/upgrade/roles.ts'
import { grantTo } from './granted.ts'
import { byManifest, byTag, briefly as play, type Stage } from './stage.ts'

const user = 'jane'
const byOlm = {
  methods: ['LiveMigrate'],
  workers: 1,
  controlPlanes: 1,
  olm: { ...okdOlm(), manifests: 'referenced' as const },
}
const catalogNamespace = 'openshift-marketplace'
const cases = [
  { name: 'image tag', shape: byTag, to: 'v1.8.4', role: 'kvup-upgrade' },
  { name: 'operator manifest', shape: byManifest, to: 'v1.9.0', role: 'kvup-operator-manifest' },
  { name: 'OLM', shape: byOlm, to: '1.18.1', role: 'kvup-olm' },
] as const

/** One right that is taken out of a role: of its n-th row, one verb on one resource, for one name where it has names. */
interface Missing {
  row: number
  verb: string
  resource: string
  name?: string
}

/** A right for all names, where another row has it for one. */
const covers = (all: Right, { group, scope }: Right, verb: string, resource: string): boolean =>
  all.names.length === 0 &&
  all.group === group &&
  (all.scope === scope || all.scope === 'cluster') &&
  all.verbs.includes(verb) &&
  all.resources.includes(resource)

/** Every single one. Without what the role can do without, or only that. */
function every(role: RoleName, optional: boolean): Missing[] {
  const rights = rightsOf(role)
  return everyRow(role, optional).filter(
    ({ row, verb, resource }) =>
      !rights.some((other, i) => i !== row && rights[row] && covers(other, rights[row], verb, resource)),
  )
}

function everyRow(role: RoleName, optional: boolean): Missing[] {
  return rightsOf(role).flatMap((right, row) =>
    right.optional !== optional
      ? []
      : right.resources.flatMap((resource) =>
          right.verbs.flatMap((verb) =>
            right.names.length === 0
              ? [{ row, verb, resource }]
              : right.names.map((name) => ({ row, verb, resource, name })),
          ),
        ),
  )
}

/** Gives the user the role, less what is missing. */
function grant(stage: Stage, role: RoleName, missing: readonly Missing[] = []): void {
  const [everywhere, here, ...there] = rolesFor(role, stage.home, catalogNamespace)
  const rights = rightsOf(role)
  const scoped = (scope: Right['scope'], rules: readonly PolicyRule[]) => {
    const rows = rights.flatMap((right, row) => (right.scope === scope ? [row] : []))
    return rules.flatMap((rule, i) =>
      less(
        rule,
        missing.filter(({ row }) => row === rows[i]),
      ),
    )
  }
  grantTo(stage, user, [
    { ...everywhere, rules: scoped('cluster', everywhere.rules ?? []) },
    { ...here, rules: scoped('kubevirt', here.rules ?? []) },
    ...there.map(({ rules, ...part }): Role =>
      Object.assign(part, { rules: scoped('catalog', rules ?? []) }),
    ),
  ])
}

/** The rule as rules of one verb, one resource and one name each, without those that are missing. */
function less(rule: PolicyRule, missing: readonly Missing[]): PolicyRule[] {
  if (missing.length === 0) return [rule]
  const { resources = [], verbs, resourceNames } = rule
  return resources.flatMap((resource) =>
    verbs.flatMap((verb) =>
      (resourceNames ?? [undefined]).flatMap((name) => {
        const gone = missing.some(
          (m) =>
            m.verb === verb && m.resource === resource && (m.name === undefined || named(m.name) === name),
        )
        const only = name === undefined ? {} : { resourceNames: [name] }
        return gone
          ? []
          : [{ apiGroups: rule.apiGroups ?? [], resources: [resource], verbs: [verb], ...only }]
      }),
    ),
  )
}

const named = (name: string) => (name === '$namespace' ? 'kubevirt' : name)
const asJane = (stage: Stage) => ({ cluster: stage.simulated.cluster({ user }) })
const writesOf = ({ simulated }: Stage, since: number) =>
  simulated.store.audit.slice(since).filter((record) => record.user === user && isWrite(record))

describe.for(cases)('contract: rights, $name', ({ shape, to, role }) => {
  test('what is optional can be missing: a warning each, and it goes on', async () => {
    await play(shape, async (stage) => {
      grant(stage, role, every(role, true))
      const ended = await stage.upgrade(to, { stableFor: '5s' }, asJane(stage))
      expect(ended).toMatchObject({ code: 0 })
      expect(ended.lines.filter((line) => line.startsWith('not allowed to'))).not.toHaveLength(0)
    })
  })

  test('none, and any single required one missing: exit 7 that names it, before the first write; all of them are enough', async () => {
    await play(shape, async (stage) => {
      const nobody = await stage.upgrade(to, {}, asJane(stage))
      expect(nobody.code).toBe(7)
      expect(nobody.text).toContain('kvup rbac')
      for (const missing of every(role, false)) {
        grant(stage, role, [missing])
        const mark = stage.mark
        const ended = await stage.upgrade(to, {}, asJane(stage))
        expect({ missing, code: ended.code }).toEqual({ missing, code: 7 })
        expect(ended.text).toContain(missing.resource.split('/')[0])
        expect(writesOf(stage, mark)).toEqual([])
      }
      grant(stage, role)
      const { mark } = stage
      expect(await stage.upgrade(to, { stableFor: '5s' }, asJane(stage))).toMatchObject({ code: 0 })
      const refused = stage.simulated.store.audit
        .slice(mark)
        .filter((r) => r.user === user && r.status === 403)
      expect(refused).toEqual([])
    })
  })
})
