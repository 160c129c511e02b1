import type { IWorkflow } from '@kubernetes-models/argo-workflows/argoproj.io/v1alpha1/Workflow'
import { Workflow } from '@kubernetes-models/argo-workflows/argoproj.io/v1alpha1/Workflow'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { PlannedCluster } from '../../../src/lib/fleet/fleet-plan.ts'
import { retriedCodes } from '../../../src/lib/kube/errors.ts'
import { argoWorkflow } from '../../../src/lib/output/formats/argo-workflow.ts'

const cluster = (name: string, more: Partial<PlannedCluster> = {}): PlannedCluster => ({
  name,
  context: name,
  uid: `uid-of-${name.length}`,
  group: 1,
  plan: {} as never,
  ...more,
})

const printed = (clusters: readonly PlannedCluster[]): IWorkflow =>
  parse(argoWorkflow({ to: 'v1.8.4', clusters })) as IWorkflow

const stepsOf = ({ spec }: IWorkflow) =>
  spec.templates?.[0]?.steps as unknown as
    | { name: string; template: string; arguments?: { parameters: { value: string }[] } }[][]
    | undefined

const inGroups = (first: number) =>
  ['c', 'a', 'b', 'd'].map((name, at) => cluster(name, { group: first + Math.ceil(at / 2) }))
const fleet = inGroups(0)

/** As the types have it: they give the list of parallel steps a name that is not in the document, as their own comment says. */
function valid({ metadata, spec }: IWorkflow): void {
  const templates = spec.templates?.map(({ steps, ...template }) =>
    steps === undefined ? template : { ...template, steps: steps.map((group) => ({ steps: group })) },
  )
  new Workflow({ metadata, spec: { ...spec, templates } as unknown as IWorkflow['spec'] }).validate()
}

test('it is a Workflow by the types that Argo publishes; a broken one is none', () => {
  const workflow = printed(fleet)
  expect(workflow).toMatchObject({ apiVersion: Workflow.apiVersion, kind: Workflow.kind })
  expect(() => valid(workflow)).not.toThrow()
  const { spec } = workflow
  const templates = (change: (template: object) => object) =>
    spec.templates?.map((template) => change(template))
  const broken: readonly [object, string][] = [
    [{ parallelism: 'many' }, '/spec/parallelism'],
    [
      { templates: templates((one) => ('suspend' in one ? { ...one, suspend: { duration: 60 } } : one)) },
      'duration',
    ],
    [
      { templates: templates((one) => ('container' in one ? { ...one, container: { image: 1 } } : one)) },
      'image',
    ],
    [{ templates: templates((one) => ('steps' in one ? { ...one, steps: ['canary-1'] } : one)) }, '/steps/0'],
    [{ arguments: { parameters: [{ value: 'without a name' }] } }, 'name'],
  ]
  for (const [change, where] of broken)
    expect(() => valid({ ...workflow, spec: { ...spec, ...change } })).toThrow(where)
})

const told = (workflow: IWorkflow) =>
  stepsOf(workflow)?.map((group) =>
    group.map((step) => step.arguments?.parameters[0]?.value ?? step.template),
  )

test('the order of its steps is that of the groups: what is of one group runs together, a person behind the canary alone', () => {
  expect(told(printed(fleet))).toEqual([['c'], ['person'], ['a', 'b'], ['d']])
  expect(told(printed(inGroups(1)))).toEqual([['c'], ['a', 'b'], ['d']])
  expect(told(printed([cluster('c', { group: 0 })]))).toEqual([['c']])
})

test('every template that a step names is there, and each step has a name of its own that Argo takes', () => {
  const odd = ['arn:aws:eks:eu/prod', 'admin@prod.example', 'ä'.repeat(80), '--yes'].map((name) =>
    cluster(name),
  )
  const workflow = printed(odd)
  const steps = stepsOf(workflow)?.flat() ?? []
  const templates = new Set(workflow.spec.templates?.map(({ name }) => name))
  expect(steps.filter(({ template }) => !templates.has(template))).toEqual([])
  expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length)
  for (const { name } of steps) expect(name).toMatch(/^[a-zA-Z0-9][-a-zA-Z0-9]{0,62}$/u)
  expect(steps.flatMap((step) => step.arguments?.parameters[0]?.value ?? [])).toEqual(
    odd.map(({ name }) => name),
  )
})

test('a pod may do what it needs and no more: its files are mounted, it has no token, only what continues is tried again', () => {
  const { spec } = printed(fleet)
  const pods = spec.templates?.flatMap(({ container }) => container ?? []) ?? []
  expect(pods.map(({ args }) => args?.join(' '))).toEqual([
    'upgrade --plan=/plans/{{inputs.parameters.uid}}.yaml --kubeconfig=/kubeconfig/config --context={{inputs.parameters.context}} --yes --output=json',
  ])
  const volumes = new Set(spec.volumes?.map(({ name }) => name))
  for (const { volumeMounts = [], securityContext } of pods) {
    expect(volumeMounts.filter(({ name }) => !volumes.has(name))).toEqual([])
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
    })
  }
  expect(spec).toMatchObject({
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    arguments: { parameters: [{ name: 'image' }, { name: 'plans' }, { name: 'kubeconfig' }] },
  })
  const retried = spec.templates?.flatMap(({ retryStrategy }) => retryStrategy?.expression ?? [])
  expect(new Set(retried)).toEqual(
    new Set([`lastRetry.status == "Error" || asInt(lastRetry.exitCode) in [${retriedCodes.join(', ')}]`]),
  )
})

test('a name that Argo would read as a template, a kubeconfig that no pod has, and a plan that is not whole give no workflow', () => {
  for (const name of ['{{workflow.parameters.image}}', "{{=sprig.env('HOME')}}", 'a}}b'])
    expect(() => printed([cluster(name)])).toThrow('as a template')
  expect(() => printed([cluster('a', { kubeconfig: '/home/me/eu' })])).toThrow('kubeconfig of its own')
  const error = { code: 8, reason: 'unreachable', message: 'no answer' }
  const { plan: _, ...unplanned } = cluster('a')
  for (const one of [cluster('a', { error }), unplanned])
    expect(parse(argoWorkflow({ to: 'v1.8.4', clusters: [cluster('b'), one] }))).toBe(null)
})
