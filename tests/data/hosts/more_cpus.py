"""Makers of mixes for more CPUs, which gen.py takes in: Intel before and after Sapphire Rapids, AMD without and with wider slots, and Arm cores of other makers.

Where a core counts what a relative counts, under other names or in another split, its maker takes the relative's counts and adds its own. Each maker refuses counts
that contradict one another. An event that such a host never sees is left out, and counts 0."""

WIDTH = {'cascade-lake': 4, 'broadwell-ep': 4, 'emerald-rapids': 6, 'lion-cove': 8}
# General counters, time-stamp counter or system counter, clock, and the memory controllers: kind, spec, boxes, bytes a second per box, reads, writes, bytes a count
HARDWARE = {
    'cascade-lake': (4, 2.1e9, 2.8e9, None), 'broadwell-ep': (4, 2.2e9, 2.9e9, None), 'emerald-rapids': (8, 2.1e9, 3.0e9, None), 'lion-cove': (10, 3.7e9, 5.2e9, None), 'skymont': (8, 3.7e9, 4.6e9, None),
    'zen2': (6, 2.25e9, 3.3e9, None), 'zen5': (6, 2.6e9, 4.0e9, None),
    'neoverse-n2-r0p3': (6, 1.0e9, 2.75e9, None), 'neoverse-n3': (6, 1.0e9, 3.0e9, None), 'neoverse-v3': (6, 1.0e9, 3.2e9, None), 'ampereone': (6, 1.0e9, 3.0e9, None), 'a64fx': (8, 0, 2.2e9, None),
    'kunpeng-920': (12, 0, 2.6e9, ('ddr', 'ddrc-kunpeng', 8, 23.46e9, 'flux_rd', 'flux_wr', 32))}
SERVICE = {'emerald-rapids': dict(fe=.12, bs=.05, ret=.68, mem=.07, fl=.055, l1=.03, l2=.015, l3=.01, dram=.02)}


def check(cpu, relations):
    """Refuses a mix that breaks one of the relations, [(name, whether it holds)]."""
    bad = [name for name, holds in relations if not holds]
    if bad: raise SystemExit('%s: breaks %s' % (cpu, bad))


def core_events(e):
    """What every Intel core counts beside the events of gen.py: where issued operations came from, loads that hit the first level, calls into the kernel."""
    rest = max(0, e['UOPS_ISSUED.ANY'] - e['IDQ.MS_UOPS']); hits = e['MEM_INST_RETIRED.ALL_LOADS'] - e['MEM_LOAD_RETIRED.L1_MISS'] - e['MEM_LOAD_RETIRED.FB_HIT']
    check('core', [('hits', hits >= 0)])
    return {'IDQ.DSB_UOPS': rest * .82, 'IDQ.MITE_UOPS': rest * .18, 'MEM_LOAD_RETIRED.L1_HIT': hits, 'BR_INST_RETIRED.FAR_BRANCH': 2e-6, 'MEM_INST_RETIRED.SPLIT_LOADS': 2e-6}


def cascade_lake(e, rfo_hitm=1e-6, store=.003, **_):
    """Skylake's core; the events of off-core responses have other names. Lines that another core has modified are fetched by demand, and a few by prefetches; they do not
    miss the last level. Execution stalls and stalls by stores are parts of one sum in Intel's formula, so that most cycles of the one are none of the other."""
    less = {'CYCLE_ACTIVITY.STALLS_TOTAL': e['CYCLE_ACTIVITY.STALLS_TOTAL'] - store * .75, 'LONGEST_LAT_CACHE.MISS': e['LONGEST_LAT_CACHE.MISS'] - rfo_hitm * .36, 'L2_RQSTS.RFO_HIT': e['L2_RQSTS.RFO_HIT'] + 2e-5, 'L2_RQSTS.ALL_RFO': e['L2_RQSTS.ALL_RFO'] + 2e-5}
    few = e['EXE_ACTIVITY.1_PORTS_UTIL']
    check('cascade-lake', [('stalls', e['CYCLE_ACTIVITY.STALLS_MEM_ANY'] <= less['CYCLE_ACTIVITY.STALLS_TOTAL']), ('cycles', less['CYCLE_ACTIVITY.STALLS_TOTAL'] + few + store <= 1), ('misses', less['LONGEST_LAT_CACHE.MISS'] > 0)])
    return {**e, **less, 'CPU_CLK_UNHALTED.REF_XCLK_ANY': e['CPU_CLK_UNHALTED.REF_XCLK'], 'ROB_MISC_EVENTS.PAUSE_INST': 1e-5,
            'OCR.DEMAND_RFO.L3_HIT.HITM_OTHER_CORE': rfo_hitm, 'OCR.PF_L2_RFO.L3_HIT.HITM_OTHER_CORE': rfo_hitm * .02, 'OFFCORE_REQUESTS_BUFFER.SQ_FULL': 1e-4, 'DTLB_LOAD_MISSES.STLB_HIT': e['DTLB_LOAD_MISSES.STLB_HIT_c1'],
            'OCR.DEMAND_DATA_RD.L3_HIT.HITM_OTHER_CORE': e['OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_HIT.HITM_OTHER_CORE'],
            'OCR.DEMAND_DATA_RD.L3_HIT.HIT_OTHER_CORE_FWD': e['OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_HIT.SNOOP_HIT_WITH_FWD']}


def broadwell(e, div=.002, store=.003, dwalk=.004, swalk=.001, iwalk=.0008, ic=.01, code=.0006, stlb=.002, dsb=(.55, .45), lcp=.00002, **_):
    """The names of before Skylake: MEM_LOAD_UOPS_RETIRED, page walks by duration, a store buffer that is full."""
    p1 = e['EXE_ACTIVITY.1_PORTS_UTIL']; busy = e['UOPS_EXECUTED.CYCLES_GE_1']
    more = {'OFFCORE_REQUESTS_BUFFER.SQ_FULL': 1e-5, 'ARITH.FPU_DIV_ACTIVE': div, 'RESOURCE_STALLS.SB': store, 'UOPS_EXECUTED.CYCLES_GE_2_UOPS_EXEC': busy - p1, 'UOPS_EXECUTED.CYCLES_GE_3_UOPS_EXEC': e['UOPS_EXECUTED.CYCLES_GE_3'],
            'UOPS_EXECUTED.CORE_c1_i': 1 - busy, 'CPU_CLK_UNHALTED.REF_XCLK_ANY': e['CPU_CLK_UNHALTED.REF_XCLK'], 'DTLB_LOAD_MISSES.STLB_HIT': stlb, 'DTLB_STORE_MISSES.STLB_HIT': stlb * .2,
            'ICACHE.HIT': .3, 'ICACHE.MISSES': code, 'ICACHE.IFDATA_STALL': ic, 'ITLB_MISSES.STLB_HIT': iwalk / 8, 'ILD_STALL.LCP': lcp, 'IDQ.ALL_DSB_CYCLES_ANY_UOPS': dsb[0], 'IDQ.ALL_DSB_CYCLES_4_UOPS': dsb[1],
            'OTHER_ASSISTS.ANY_WB_ASSIST': e['OTHER_ASSISTS.ANY'], 'RS_EVENTS.EMPTY_END': e['RS_EVENTS.EMPTY_CYCLES'] / 6, 'MEM_LOAD_UOPS_RETIRED.HIT_LFB': e['MEM_LOAD_RETIRED.FB_HIT']}
    for walks, cycles in (('DTLB_LOAD', dwalk), ('DTLB_STORE', swalk), ('ITLB', iwalk)): more.update({walks + '_MISSES.WALK_DURATION': cycles, walks + '_MISSES.WALK_DURATION_c1': cycles})
    for new, n in e.items():
        for a, b in (('MEM_LOAD_RETIRED.', 'MEM_LOAD_UOPS_RETIRED.'), ('MEM_INST_RETIRED.', 'MEM_UOPS_RETIRED.'), ('MEM_LOAD_L3_HIT_RETIRED.', 'MEM_LOAD_UOPS_L3_HIT_RETIRED.'), ('MEM_LOAD_L3_MISS_RETIRED.', 'MEM_LOAD_UOPS_L3_MISS_RETIRED.')):
            if new.startswith(a): more.setdefault(b + new[len(a):], n)
    check('broadwell-ep', [('div', div <= 1), ('sb', store <= 1), ('few ops', busy >= p1)])
    return {**e, **more}


def emerald(e, locks=.0006, **_):
    """Sapphire Rapids' core."""
    cycles = locks * e['INST_RETIRED.ANY'] * 18
    check('emerald-rapids', [('locks', cycles <= 1)])
    return {**e, 'LOCK_CYCLES.CACHE_LOCK_DURATION': cycles, 'OFFCORE_REQUESTS_OUTSTANDING.ALL_DATA_RD_c12': e['OFFCORE_REQUESTS_OUTSTANDING.DATA_RD_c12']}


def lion_cove(e, scb=.004, **_):
    """Stalls are counted for each level by itself, and the first level has two parts: 48 KiB before 192 KiB."""
    s = [e['EXE_ACTIVITY.BOUND_ON_LOADS'], *(e['MEMORY_ACTIVITY.STALLS_%s_MISS' % l] for l in ('L1D', 'L2', 'L3'))]
    issued = e['UOPS_ISSUED.ANY']; loads = e['MEM_INST_RETIRED.ALL_LOADS']; stores = e['MEM_INST_RETIRED.ALL_STORES']
    check('lion-cove', [('levels', s == sorted(s, reverse=True)), ('first level', e['MEM_LOAD_RETIRED.L1_MISS'] <= loads * .95)])
    return {**e, 'MEMORY_STALLS.L1': s[0] - s[1], 'MEMORY_STALLS.L2': s[1] - s[2], 'MEMORY_STALLS.L3': s[2] - s[3], 'MEMORY_STALLS.MEM': s[3],
            'L1D.L1_REPLACEMENT': e['L1D.REPLACEMENT'], 'L1D.L0_REPLACEMENT': e['L1D.REPLACEMENT'] * 1.4, 'MEM_LOAD_RETIRED.L1_HIT_L1': loads * .04, 'L2_RQSTS.CODE_RD_HIT': e['L2_RQSTS.ALL_CODE_RD'] - e['L2_RQSTS.CODE_RD_MISS'],
            'L1D_PENDING.LOAD': e['L1D_PEND_MISS.PENDING'], 'L1D_PENDING.LOAD_CYCLES': e['L1D_PEND_MISS.PENDING_CYCLES'], 'L1D_MISS.LOAD': e['MEM_LOAD_COMPLETED.L1_MISS_ANY'], 'L1D_MISS.FB_FULL': e['L1D_PEND_MISS.FB_FULL_PERIODS'],
            'L1D_MISS.L2_STALLS': .001, 'XQ.FULL': .0004, 'OFFCORE_REQUESTS_OUTSTANDING.DATA_RD_c4': e['OFFCORE_REQUESTS_OUTSTANDING.ALL_DATA_RD_c4'], 'BE_STALLS.SCOREBOARD': scb, 'LD_BLOCKS.STORE_EARLY_c1': .0003,
            'BR_INST_RETIRED.COND_TAKEN_BWD': e['BR_INST_RETIRED.COND_TAKEN'] * .4, 'BR_MISP_RETIRED.COND_TAKEN_BWD': e['BR_MISP_RETIRED.COND_TAKEN'] * .3, 'INST_RETIRED.BR_FUSED': e['INST_RETIRED.MACRO_FUSED'],
            'IDQ.DSB_UOPS_c8_i': e['IDQ.DSB_CYCLES_ANY'] - e['IDQ.DSB_CYCLES_OK'], 'IDQ.MITE_UOPS_c8_i': e['IDQ.MITE_CYCLES_ANY'] - e['IDQ.MITE_CYCLES_OK'], 'IDQ_BUBBLES.STARVATION_CYCLES': e['IDQ_UOPS_NOT_DELIVERED.CYCLES_0_UOPS_DELIV.CORE'], 'IDQ_BUBBLES.FETCH_LATENCY': e['topdown-fetch-lat'], 'ICACHE_TAG.STALLS_ISB': e['ICACHE_TAG.STALLS'] * .2, 'ICACHE_TAG.STALLS_INUSE': e['ICACHE_TAG.STALLS'] * .1,
            'UOPS_DISPATCHED.ALU': issued * .5, 'UOPS_DISPATCHED.LOAD': loads * 1.05, 'UOPS_DISPATCHED.STD': stores, 'UOPS_DISPATCHED.STA': stores, 'UOPS_RETIRED.STALLS': 1 - e['UOPS_RETIRED.CYCLES'],
            'FP_ARITH_DISPATCHED.V0': e['FP_ARITH_DISPATCHED.PORT_0'], 'FP_ARITH_DISPATCHED.V1': e['FP_ARITH_DISPATCHED.PORT_1']}


def skymont(ecore, p):
    """Eight slots a cycle; a stall of a fetch or a load that missed the second level counts as a whole, and the memory scheduler tells what it is short of."""
    ld = p.get('ldst', {}); sched = p.pop('blocks', .02)
    e, facts = ecore('sierra-forest', width=8, **p)  # its names, by which ecore() tells the older events of Gracemont from these
    e.update({'UOPS_RETIRED.ALL': 8 * p['ret'], 'BR_INST_RETIRED.FAR_BRANCH': 2e-6, 'MEM_SCHEDULER_BLOCK.ALL': sched, 'MEM_SCHEDULER_BLOCK.LD_BUF': sched * .2, 'MEM_SCHEDULER_BLOCK.ST_BUF': sched * .1, 'MEM_SCHEDULER_BLOCK.RSV': sched * .7, 'MEM_UOPS_RETIRED.SPLIT_LOADS': 2e-5,
              'LD_BLOCKS.ADDRESS_ALIAS': 1e-5, 'LD_BLOCKS.DATA_UNKNOWN': 1e-4, 'MACHINE_CLEARS.DISAMBIGUATION': 1e-7, 'MACHINE_CLEARS.MEMORY_ORDERING': 1e-7, 'MACHINE_CLEARS.PAGE_FAULT': 1e-8, 'UOPS_RETIRED.IDIV': 1e-4, 'FP_FLOPS_RETIRED.ALL': .001, 'FP_INST_RETIRED.ALL': .001, 'FP_INST_RETIRED.64B_DP': .001})
    check('skymont', [('loads', ld.get('L2_HIT', 0) + ld.get('L2_MISS', 0) <= ld.get('ALL', 0) * 1.01)])
    return e, facts


def zen5(cpu, fe, bs, ret, lat=.5, loads_wait=.5, mp=.0012, resync=.00003, ucode=.02, dc=.4, stores=.3, l2hit=.004, ccx=.0004, near=.0001, ic=.004, icsys=.0005, itlb=.00004, itlb_l2hit=.0004, dtlb1=.001, dtlb2=.0001, opc=.8, upi=1.08, branches=.19, tok=None, div=.002, flops=.01, freq=1.0, queue=None):
    """Eight slots a cycle. Shares of slots: fe (of it lat: cycles in which nothing came at all), bs, ret; the rest is back-end bound."""
    be = 1 - fe - bs - ret; i = 8 * ret / upi; dem = l2hit + ccx + near; notc = min(.97, max(.05, be)); data = ccx + near
    e = {'ls_not_halted_cyc': 1, 'ls_not_halted_p0_cyc.p0_freq_cyc': freq, 'ex_ret_instr': i, 'ex_ret_ops': 8 * ret, 'ex_ret_ucode_ops': 8 * ret * ucode, 'de_src_op_disp.all': 8 * (ret + bs), 'de_src_op_disp.op_cache': 8 * (ret + bs) * opc, 'de_src_op_disp.x86_decoder': 8 * (ret + bs) * (1 - opc),
         'de_no_dispatch_per_slot.no_ops_from_frontend': 8 * fe, 'de_no_dispatch_per_slot.no_ops_from_frontend.cmask8': fe * lat, 'de_no_dispatch_per_slot.backend_stalls': 8 * be, 'de_op_queue_empty': fe * .9 if queue is None else queue, 'bp_redirects.resync': resync,
         'ex_no_retire.not_complete': notc, 'ex_no_retire.load_not_complete': notc * loads_wait, 'ex_ret_brn': branches * i, 'ex_ret_brn_tkn': branches * i * .6, 'ex_ret_brn_misp': mp * i, 'ex_ret_brn_ind_misp': mp * i * .2, 'ex_ret_near_ret_mispred': mp * i * .01, 'ex_div_busy': div, 'fp_ret_sse_avx_ops.all': flops,
         'ls_dispatch.all': dc * i, 'ls_dispatch.ld_dispatch': dc * i * (1 - stores), 'ls_dispatch.store_dispatch': dc * i * stores, 'ls_l1_d_tlb_miss.all': dtlb1, 'ls_l1_d_tlb_miss.all_l2_miss': dtlb2, 'ls_tlb_flush.all': 1e-6,
         'ls_dmnd_fills_from_sys.all': dem, 'ls_dmnd_fills_from_sys.local_l2': l2hit, 'ls_dmnd_fills_from_sys.local_ccx': ccx, 'ls_dmnd_fills_from_sys.dram_io_near': near,
         'ls_any_fills_from_sys.all': dem * 1.35, 'ls_any_fills_from_sys.local_ccx': ccx * 1.35, 'ls_any_fills_from_sys.local_all': (l2hit + ccx) * 1.35, 'ls_any_fills_from_sys.dram_io_all': near * 1.35,
         'ic_cache_fill_l2': ic, 'ic_cache_fill_sys': icsys, 'ic_tag_hit_miss.instruction_cache_miss': (ic + icsys) * 1.1, 'ic_tag_hit_miss.all_instruction_cache_accesses': .06 + (ic + icsys) * 2.5, 'op_cache_hit_miss.all_op_cache_accesses': .3, 'op_cache_hit_miss.op_cache_miss': .3 * (1 - opc),
         'bp_l1_tlb_fetch_hit.all': .2, 'bp_l1_tlb_miss_l2_tlb_hit': itlb_l2hit, 'bp_l1_tlb_miss_l2_tlb_miss.all': itlb, 'l2_request_g1.all_dc': dem * 1.02, 'l2_request_g1.cacheable_ic_read': ic + icsys, 'l2_request_g1.all_no_prefetch': dem * 1.02 + ic + icsys,
         'l2_cache_req_stat.ic_fill_miss': icsys, 'l2_cache_req_stat.ic_hit_in_l2': ic, 'l2_cache_req_stat.ls_rd_blk_c': data, 'l2_cache_req_stat.dc_hit_in_l2': l2hit, 'l2_cache_req_stat.ic_dc_miss_in_l2': data + icsys, 'l2_cache_req_stat.ic_dc_hit_in_l2': l2hit + ic,
         'l3_lookup_state.all_coherent_accesses_to_l3': data + icsys, 'l3_lookup_state.l3_miss': near + icsys * .05}
    for end in ('l1_dc_l2_hwpf', 'l2_hwpf'): e.update({'l2_pf_hit_l2.' + end: l2hit * .3, 'l2_pf_miss_l2_hit_l3.' + end: ccx * .3, 'l2_pf_miss_l2_l3.' + end: near * .3})
    part = 'de_dispatch_stall_cycle_dynamic_tokens_part'
    for key, name in (('retire', '2.retq'), ('load', '1.load_queue_rsrc_stall'), ('store', '1.store_queue_rsrc_stall'), ('int', '1.int_phy_reg_file_rsrc_stall'), ('fpsch', '1.fp_sch_rsrc_stall'), ('taken', '1.taken_brnch_buffer_rsrc'), ('al', '2.al_tokens'), ('ag', '2.ag_tokens')): e[part + name] = (tok or {}).get(key, be * .05)
    check(cpu, [('be', be >= 0), ('lat', 0 <= lat <= 1), ('fills', dem <= dc * i), ('misp', mp <= branches), ('tlb', dtlb2 <= dtlb1 <= dc * i), ('ic', ic + icsys <= .2), ('walks of code', itlb * 20 <= fe), ('ipc', i <= 8)])
    return e, {'ll_miss': near * 1.35, 'ipc': i}


def zen2(cpu, fe, ret, ipc, retq=.02, ldq=.004, stq=.004, mp=.001, branches=.19, dc=.4, stores=.3, l2hit=.006, ccx=.0008, near=.0002, ic=.004, icsys=.0004, itlb=.00004, dtlb1=.001, dtlb2=.0001, opc=.7, div=.001, freq=1.0):
    """No slots: cycles in which dispatch had nothing (fe) or lacked an entry of a queue (retq ..), and retired operations per cycle."""
    dem = l2hit + ccx + near; i = ipc; data = ccx + near
    e = {'ls_not_halted_cyc': 1, 'msr_aperf': 1, 'msr_mperf': freq, 'ex_ret_instr': i, 'ex_ret_cops': ret, 'uops_dispatched': ret * 1.08, 'de_dis_uops_from_decoder.opcache_dispatched': ret * 1.08 * opc, 'de_dis_uops_from_decoder.decoder_dispatched': ret * 1.08 * (1 - opc),
         'de_dis_uop_queue_empty_di0': fe, 'de_dis_dispatch_token_stalls0.retire_token_stall': retq, 'de_dis_dispatch_token_stalls1.load_queue_token_stall': ldq, 'de_dis_dispatch_token_stalls1.store_queue_token_stall': stq, 'de_dis_dispatch_token_stalls1.int_phy_reg_file_token_stall': .01, 'de_dis_dispatch_token_stalls1.fp_reg_file_rsrc_stall': .0005,
         'de_dis_dispatch_token_stalls1.fp_sch_rsrc_stall': .0005, 'de_dis_dispatch_token_stalls1.taken_branch_buffer_rsrc_stall': .001, 'de_dis_dispatch_token_stalls0.alu_token_stall': .012, 'de_dis_dispatch_token_stalls0.agsq_token_stall': .01,
         'ex_ret_brn': branches * i, 'ex_ret_brn_tkn': branches * i * .6, 'ex_ret_brn_misp': mp * i, 'ex_ret_brn_ind_misp': mp * i * .15, 'ex_ret_near_ret_mispred': mp * i * .02, 'ex_div_busy': div, 'fp_ret_sse_avx_ops.all': .001,
         'ic_cache_fill_l2': ic, 'ic_cache_fill_sys': icsys, 'l2_cache_req_stat.ic_access_in_l2': ic + icsys, 'bp_l1_tlb_fetch_hit': .15 + (ic + icsys) * 2, 'bp_l1_tlb_miss_l2_hit': itlb * 6, 'bp_l1_tlb_miss_l2_tlb_miss': itlb, 'l2_itlb_misses': itlb,
         'all_dc_accesses': dc * i, 'ls_dispatch.ld_dispatch': dc * i * (1 - stores), 'ls_dispatch.store_dispatch': dc * i * stores, 'ls_mab_alloc.loads': dem * .8, 'ls_mab_alloc.stores': dem * .2, 'l1_dtlb_misses': dtlb1, 'l2_dtlb_misses': dtlb2, 'all_tlbs_flushed': 2e-6,
         'l2_cache_accesses_from_dc_misses': dem, 'l2_cache_accesses_from_ic_misses': ic + icsys, 'l2_request_g1.all_no_prefetch': dem + ic + icsys, 'l2_cache_req_stat.ic_dc_miss_in_l2': data + icsys, 'l2_cache_req_stat.ic_dc_hit_in_l2': l2hit + ic,
         'l2_cache_misses_from_ic_miss': icsys, 'l2_cache_misses_from_dc_misses': data, 'l2_cache_hits_from_ic_misses': ic, 'l2_cache_hits_from_dc_misses': l2hit, 'l2_pf_hit_l2': l2hit * .3, 'l2_pf_miss_l2_hit_l3': ccx * .3, 'l2_pf_miss_l2_l3': near * .3,
         'ls_refills_from_sys.ls_mabresp_lcl_l2': l2hit, 'ls_refills_from_sys.ls_mabresp_lcl_cache': ccx, 'ls_refills_from_sys.ls_mabresp_lcl_dram': near, 'l3_accesses': data + icsys, 'l3_misses': near + icsys * .1, 'xi_sys_fill_latency': near * 1.2 * 300 / 16, 'xi_ccx_sdp_req1.all_l3_miss_req_typs': near * 1.2}
    check(cpu, [('cycles', fe + max(retq, ldq, stq) <= 1), ('ops', i <= ret <= 6), ('fills', dem <= dc * i), ('misp', mp <= branches), ('tlb', dtlb2 <= dtlb1 <= dc * i)])
    return e, {'ll_miss': near, 'ipc': i}


def arm_deep(arm, cpu, p):
    """Neoverse N3 and V3: flushes have an event of their own, and stalled cycles are split by cause. f and b: shares of the front end's and the back end's stalled cycles."""
    width = {'neoverse-n3': 5, 'neoverse-v3': 10}[cpu]; f = p.pop('f', {}); b = p.pop('b', {}); flush = p.pop('flush', .01); sve = p.pop('sve', 0); fe, be, ret = p['fe'], p['be'], p['ret']
    e, facts = arm(cpu, width=width, **p)
    sf, sb = p.get('sf', fe * .9) + flush, p.get('sb', be * .9); u = 1 - fe - be - flush
    F = dict({'L1I': .25, 'MEM': .1, 'TLB': .05, 'FLOW': .2}, **f); B = dict({'L1D': .1, 'MEM': .25, 'TLB': .05, 'ST': .05, 'BUSY': .2, 'RENAME': .1}, **b)
    e.update({'STALL_FRONTEND': sf, 'STALL_BACKEND': sb, 'STALL_SLOT_FRONTEND': width * (fe + flush), 'STALL_SLOT_BACKEND': width * be, 'STALL_SLOT': width * (fe + flush + be), 'OP_SPEC': width * u, 'STALL_FRONTEND_FLUSH': flush,
              'STALL_FRONTEND_MEMBOUND': sf * (F['L1I'] + F['MEM'] + F['TLB']), 'STALL_FRONTEND_CPUBOUND': sf * F['FLOW'] + flush, 'STALL_BACKEND_MEMBOUND': sb * (B['L1D'] + B['MEM'] + B['TLB'] + B['ST']), 'STALL_BACKEND_CPUBOUND': sb * (B['BUSY'] + B['RENAME'])})
    for k in ('L1I', 'MEM', 'TLB', 'FLOW'): e['STALL_FRONTEND_' + k] = sf * F[k]
    for k in ('L1D', 'MEM', 'TLB', 'ST', 'BUSY', 'RENAME'): e['STALL_BACKEND_' + k] = sb * B[k]
    br = e['BR_RETIRED']; spec = e['INST_SPEC']
    e.update({'BR_IMMED_RETIRED': br * .8, 'BR_IND_RETIRED': br * .12, 'BR_RETURN_RETIRED': br * .08, 'PC_WRITE_SPEC': br * spec / max(e['INST_RETIRED'], 1e-9) * .8, 'SVE_INST_SPEC': sve * spec, 'SVE_PRED_SPEC': sve * spec * .5, 'SVE_PRED_FULL_SPEC': sve * spec * .45, 'SVE_PRED_PARTIAL_SPEC': sve * spec * .05})
    check(cpu, [('u', u >= ret), ('front end', sum(F.values()) <= 1), ('back end', sum(B.values()) <= 1), ('cycles', sf + sb <= 1), ('walks', p.get('dtlb', .0001) * 12 <= max(.01, sb * B['TLB'] * 2))])
    return e, facts


def ampereone(arm, cpu, p):
    """Four slots a cycle; the front end's share is what the other three leave. STALL_FRONTEND is left out: erratum AC03_CPU_29."""
    bs = p.pop('bs', .03); cache = p.pop('cache', .05); tlb = p.pop('tlb', .005); resource = p.pop('resource', .05); fcache = p.pop('fcache', .04); ftlb = p.pop('ftlb', .005); other = p.pop('other', .03); mpr = p.pop('mpr')
    e, facts = arm(cpu, width=4, mp=mpr, **p); be, ret = p['be'], p['ret']
    e.update({'OP_RETIRED': 4 * ret, 'OP_SPEC': 4 * (ret + bs), 'STALL_SLOT_BACKEND': 4 * be, 'BR_MIS_PRED_RETIRED': mpr, 'GPC_FLUSH': mpr * (1 + other), 'STALL_BACKEND_CACHE': cache, 'STALL_BACKEND_TLB': tlb, 'STALL_BACKEND_RESOURCE': resource, 'STALL_FRONTEND_CACHE': fcache, 'STALL_FRONTEND_TLB': ftlb})
    del e['STALL_FRONTEND']
    check(cpu, [('slots', p['fe'] + be + ret + bs <= 1.001), ('cycles', cache + tlb + resource <= e['STALL_BACKEND'] * 1.3 + .02), ('lost', bs <= 30 * mpr + .05)])
    return e, facts


def kunpeng(arm, cpu, p):
    """Four slots a cycle, of instructions: what was issued and did not retire is lost. Stalls of execution are nested by level."""
    bs = p.pop('bs', .03); any_, l1, l2 = p.pop('stalls'); store = p.pop('store', .01); exe = p.pop('exe', .7); lat = p.pop('lat', .5); fe, ret = p['fe'], p['ret']; be = 1 - fe - ret - bs
    p.pop('freq', None); e, facts = arm(cpu, width=4, upi=1, be=be, **p)
    e.update({'INST_RETIRED': 4 * ret, 'INST_SPEC': 4 * (ret + bs), 'FETCH_BUBBLE': 4 * fe, 'FETCH_LATENCY_CYCLES': fe * lat, 'EXE_STALL_CYCLE': exe, 'MEM_STALL_ANYLOAD': any_, 'MEM_STALL_L1MISS': l1, 'MEM_STALL_L2MISS': l2, 'STORE_STALL_CYCLES': store, 'OTHER_FLUSH': 2e-6})
    check(cpu, [('stalls', l2 <= l1 <= any_ <= exe and any_ + store <= exe <= 1), ('be', be >= 0), ('latency', l1 <= 400 * e['L1D_CACHE_REFILL'] + .01)])
    return e, facts


def a64fx(arm, cpu, p):
    """No slots: why nothing completed, by what the oldest instruction waited for."""
    wait, l1, l2 = p.pop('wait'); empty = p.pop('empty', .01); eu, fl = p.pop('eu', .01), p.pop('fl', .001); br = p.pop('br', .002); p.pop('freq', None)
    e, facts = arm(cpu, width=4, **p); i = e['INST_RETIRED']
    e.update({'LD_COMP_WAIT': wait, 'LD_COMP_WAIT_L1_MISS': l1, 'LD_COMP_WAIT_L2_MISS': l2, 'ROB_EMPTY': empty, 'EU_COMP_WAIT': eu, 'FL_COMP_WAIT': fl, 'BR_COMP_WAIT': br, 'BR_PRED': e['BR_RETIRED'] * 1.02, 'L2I_TLB_REFILL': e['ITLB_WALK'], 'L2D_TLB_REFILL': e['DTLB_WALK']})
    check(cpu, [('nested', l1 + l2 <= wait and fl <= eu), ('cycles', wait + empty + eu + br <= 1), ('latency', l1 <= 60 * e['L1D_CACHE_REFILL'] + .01), ('refills', e['L2D_CACHE_REFILL'] <= e['L2D_CACHE'])])
    return e, facts


def makers(intel, arm, ecore):
    """Makers by CPU, from those of gen.py."""
    def core(add):
        def make(cpu, **p):
            e, facts = intel(cpu, **p)
            return add({**e, **core_events(e)}, **p), facts
        return make
    def of(fn, base): return lambda cpu, **p: fn(base, cpu, p)
    return {'cascade-lake': core(cascade_lake), 'broadwell-ep': core(broadwell), 'lion-cove': core(lion_cove), 'emerald-rapids': core(emerald), 'skymont': lambda cpu, **p: skymont(ecore, p),
            'zen5': zen5, 'zen2': zen2, 'neoverse-n2-r0p3': lambda cpu, **p: arm(cpu, width=5, **p), 'neoverse-n3': of(arm_deep, arm), 'neoverse-v3': of(arm_deep, arm), 'ampereone': of(ampereone, arm), 'kunpeng-920': of(kunpeng, arm), 'a64fx': of(a64fx, arm)}
