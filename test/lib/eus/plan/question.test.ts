import { describe, expect, test } from 'vitest'
import { eusQuestionLines } from '../../../../src/lib/output/views/upgrade/before-question.ts'
import { makeEusPlan } from '../../../../src/lib/eus/plan/eus-planner.ts'
import { paintFor } from '../../../../src/lib/output/terminal.ts'
import { wrap } from '../../../../src/lib/output/text.ts'
import { evidenceOf } from './evidence-of.ts'

const paint = paintFor({ colour: false, unicode: true })

async function screen(name: string, over: { isOpen?: boolean; approval?: string } = {}) {
  const plan = makeEusPlan(await evidenceOf(name))
  const asked = { plan, accepted: [], isOpen: false, approval: undefined, restores: [], ...over }
  const address = { server: 'https://10.0.0.1:6443', context: 'prod-eu' }
  return eusQuestionLines({ ...asked, address, user: 'admin' }, paint)
}

const labels = (lines: readonly string[]) => lines.map((line) => line.slice(0, 10).trim())

describe('the screen before the question of an EUS upgrade', () => {
  test('begins with the way back that there is not, and has a label for each line after it', async () => {
    const [first, ...rows] = await screen('4.18-to-4.20-with-a-graph', { approval: 'ends early' })
    expect(first).toBe('! There is no way back to 4.18. Back up etcd and VM data now.')
    expect(labels(rows).slice(0, 3)).toEqual(['cluster', 'path', 'time'])
    expect(labels(rows)).toContain('approval')
    expect(rows[0]).toBe('cluster   prod-eu (https://10.0.0.1:6443) as admin')
    expect(rows).toContain('VMs       At the end KubeVirt live-migrates 2 VMs (counted now)')
    expect(labels(rows).every((label) => label !== '')).toBe(true)
  })

  test('fits a small terminal', async () => {
    const lines = await screen('4.18-to-4.20-with-a-graph')
    expect(lines.flatMap((line) => wrap(line, 80)).length).toBeLessThanOrEqual(23)
  })

  test('of one that is under way says where it stands, and not again what is paused or to be backed up', async () => {
    const lines = await screen('mid-window', { isOpen: true })
    expect(lines.join('\n')).not.toMatch(/Back up|^pauses|^updates|^first/mu)
    expect(lines).toContainEqual(
      expect.stringMatching(/^now +the control plane is at 4\.\d+\.\d+, paused pools are at 4\.\d+$/u),
    )
  })

  test('of VMs that its methods leave alone names them', async () => {
    const lines = await screen('4.18-launchers-outdated')
    expect(lines).toContain('VMs       At the end KubeVirt leaves 2 VMs outdated (counted now)')
  })
})
