-- SPDX-License-Identifier: GPL-2.0
-- RPC-over-RDMA version 2 for Wireshark, whose own dissector knows version 1 only.
--
--	tshark -X lua_script:rpcrdma2.lua -2 -r capture.pcap
--
-- (from Wireshark 4.4 on: not as root), or copy it to the directory that "tshark -G folders" calls
-- Personal Lua Plugins. It detects version 2 in the payload of RoCE, InfiniBand and iWARP. Messages
-- without these headers can be put in a capture of link type 147 (User 0) and decoded with
--
--	-o 'uat:user_dlts:"User 0 (DLT=147)","rpcrdma2","0","","0",""'
--
-- If a capture also has version 1, and iWARP messages in several segments, the second pass of
-- Wireshark 4.0's own dissector fails. Then omit -2, or add --disable-heuristic rpcrdma_iwarp.
--
-- If the rpcrdma module of this repository drops a message, or answers it with an error, whatever
-- came before, the message is marked with expert severity Error. Messages that are legal but odd are
-- marked with Warning, and so is a transmission that belongs to no group. Faults that one message
-- alone does not show are not marked, such as chunks in a Call to a client, lists in a Reply that
-- its Call did not offer, a Call longer than the server accepts, and what the settings of a receiver
-- forbid.
-- Layouts: Documentation/wire.rst.
--
-- Messages of the round-trip extension are judged as a receiver that uses it would judge them. The
-- transmissions of a group are assembled, and the RPC message is shown with the last one. Faults
-- that only the whole group shows are marked there.

local p = Proto("rpcrdma2", "RPC-over-RDMA version 2")

local MSG, NOMSG, ERROR, CONNPROP = 0, 1, 4, 5
local RTX_MSG, RTX_NEXT = 0x80525401, 0x80525402
local RBSIZ, BRS, RTX = 1, 2, 0x80525401

local types = {
	[MSG] = "RDMA2_MSG", [NOMSG] = "RDMA2_NOMSG", [ERROR] = "RDMA2_ERROR", [CONNPROP] = "RDMA2_CONNPROP",
	[RTX_MSG] = "RDMA2_RTX_MSG", [RTX_NEXT] = "RDMA2_RTX_NEXT",
}
local codes = {
	[1] = "RDMA2_ERR_VERS", [2] = "RDMA2_ERR_BAD_XDR", [3] = "RDMA2_ERR_INVAL_HTYPE",
	[4] = "RDMA2_ERR_READ_CHUNKS", [5] = "RDMA2_ERR_WRITE_CHUNKS", [6] = "RDMA2_ERR_SEGMENTS",
	[7] = "RDMA2_ERR_WRITE_RESOURCE", [8] = "RDMA2_ERR_REPLY_RESOURCE", [9] = "RDMA2_ERR_SYSTEM",
	[0x80525401] = "RDMA2_ERR_RTX_CONT", [0x80525402] = "RDMA2_ERR_RTX_LIMIT",
}
local prop_names = {
	[RBSIZ] = "RBSIZ (receive buffer size)", [BRS] = "BRS (reverse request support)",
	[RTX] = "RTX (round-trip extension)",
}
local brs_names = { [0] = "NONE", [1] = "INLINE", [2] = "GENL" }

local f = {
	xid = ProtoField.uint32("rpcrdma2.xid", "XID", base.HEX),
	vers = ProtoField.uint32("rpcrdma2.vers", "Version"),
	credit = ProtoField.uint32("rpcrdma2.credit", "Credits"),
	htype = ProtoField.uint32("rpcrdma2.htype", "Header type", base.DEC, types),
	flags = ProtoField.uint32("rpcrdma2.flags", "Flags", base.HEX),
	response = ProtoField.bool("rpcrdma2.flags.response", "F_RESPONSE", 32, nil, 1),
	inv_handle = ProtoField.uint32("rpcrdma2.inv_handle", "Handle to invalidate", base.HEX),
	position = ProtoField.uint32("rpcrdma2.position", "Position"),
	handle = ProtoField.uint32("rpcrdma2.handle", "Handle", base.HEX),
	length = ProtoField.uint32("rpcrdma2.length", "Length"),
	offset = ProtoField.uint64("rpcrdma2.offset", "Offset", base.HEX),
	nsegs = ProtoField.uint32("rpcrdma2.segments", "Segments"),
	nreads = ProtoField.uint32("rpcrdma2.reads_count", "Read segments"),
	nwrites = ProtoField.uint32("rpcrdma2.writes_count", "Write chunks"),
	nreply = ProtoField.uint32("rpcrdma2.reply_count", "Reply chunks"),
	nprops = ProtoField.uint32("rpcrdma2.props_count", "Properties"),
	which = ProtoField.uint32("rpcrdma2.prop.which", "Property", base.DEC, prop_names),
	plen = ProtoField.uint32("rpcrdma2.prop.length", "Length of value"),
	pdata = ProtoField.bytes("rpcrdma2.prop.data", "Value"),
	rbsiz = ProtoField.uint32("rpcrdma2.prop.rbsiz", "Receive buffer size"),
	brs = ProtoField.uint32("rpcrdma2.prop.brs", "Reverse request support", base.DEC, brs_names),
	err = ProtoField.uint32("rpcrdma2.err", "Error", base.DEC, codes),
	v1form = ProtoField.bool("rpcrdma2.err.v1_layout", "Layout of version 1"),
	low = ProtoField.uint32("rpcrdma2.err.vers_low", "Lowest version"),
	high = ProtoField.uint32("rpcrdma2.err.vers_high", "Highest version"),
	max_chunks = ProtoField.uint32("rpcrdma2.err.max_chunks", "Most chunks"),
	max_segments = ProtoField.uint32("rpcrdma2.err.max_segments", "Most segments"),
	index = ProtoField.uint32("rpcrdma2.err.chunk_index", "Write chunk (from 1; 0: unknown)"),
	needed = ProtoField.uint32("rpcrdma2.err.length_needed", "Bytes needed"),
	msg = ProtoField.bytes("rpcrdma2.msg", "RPC message"),
	rtx_count = ProtoField.uint32("rpcrdma2.rtx.count", "Transmissions of the group"),
	rtx_stream = ProtoField.uint32("rpcrdma2.rtx.stream", "Payload stream, bytes in all"),
	rtx_number = ProtoField.uint32("rpcrdma2.rtx.number", "Number of the transmission"),
	rtx_offset = ProtoField.uint32("rpcrdma2.rtx.offset", "Payload stream, bytes before this transmission"),
	rtx_here = ProtoField.uint32("rpcrdma2.rtx.here", "Payload stream, bytes in this transmission"),
	rtx_data = ProtoField.uint32("rpcrdma2.rtx.data", "Offset of data (0: none)"),
	rtx_replies = ProtoField.uint32("rpcrdma2.rtx.replies", "Receives that wait for the Reply"),
	rtx_results = ProtoField.uint32("rpcrdma2.rtx.results", "Results that may come placed"),
	rtx_nitems = ProtoField.uint32("rpcrdma2.rtx.items_count", "Items"),
	rtx_position = ProtoField.uint32("rpcrdma2.rtx.item.position", "Position"),
	rtx_length = ProtoField.uint32("rpcrdma2.rtx.item.length", "Length"),
	rtx_piece = ProtoField.bytes("rpcrdma2.rtx.piece", "Piece of the payload stream"),
	rtx_placed = ProtoField.bytes("rpcrdma2.rtx.placed", "Data of items"),
	rtx_flags = ProtoField.uint32("rpcrdma2.prop.rtx.flags", "Flags (1: RESULTS, 2: SENDS)", base.HEX),
	rtx_call_max = ProtoField.uint32("rpcrdma2.prop.rtx.call_max", "Most transmissions in a Call"),
	rtx_reply_max = ProtoField.uint32("rpcrdma2.prop.rtx.reply_max", "Most transmissions in a Reply"),
	rtx_msg_max = ProtoField.uint32("rpcrdma2.prop.rtx.msg_max", "Most bytes in a Call"),
	rtx_head = ProtoField.uint32("rpcrdma2.prop.rtx.head", "Bytes in front of the first segment"),
	rtx_seg = ProtoField.uint32("rpcrdma2.prop.rtx.seg", "Bytes of a segment"),
	rtx_nsegs = ProtoField.uint32("rpcrdma2.prop.rtx.nsegs", "Segments of a Receive"),
}
for _, field in pairs(f) do table.insert(p.fields, field) end

-- Payload of each error code
local payload = {
	[1] = { f.low, f.high }, [4] = { f.max_chunks }, [5] = { f.max_chunks }, [6] = { f.max_segments },
	[7] = { f.index, f.needed }, [8] = { f.needed },
}


local x = {}
local function bad(name, text)
	x[name] = ProtoExpert.new("rpcrdma2.bad." .. name, text, expert.group.MALFORMED, expert.severity.ERROR)
end
local function odd(name, text)
	x[name] = ProtoExpert.new("rpcrdma2.odd." .. name, text, expert.group.PROTOCOL, expert.severity.WARN)
end
bad("short", "Message ends within the header")
bad("version", "Version is not 2")
bad("type", "Unknown header type")
bad("present", "Presence word is neither 0 nor 1")
bad("count", "Count leads out of the message")
bad("position", "Position is not a multiple of 4")
bad("beyond", "Position is inside another chunk or past the message's end")
bad("many", "More chunks or segments than Linux accepts (16 in a list, of these 15 positions but 0; 64 in a chunk)")
bad("overflow", "Segment lengths overflow 32 bits")
bad("form", "Header type and chunks do not go together")
bad("xid", "XID of the RPC message is another one")
bad("direction", "F_RESPONSE and direction of the RPC message disagree")
bad("norpc", "No RPC message")
bad("badrpc", "RPC message ends too early")
bad("trailing", "Bytes behind a message that ends here")
bad("error", "RDMA2_ERROR without F_RESPONSE")
bad("prop", "Property value is not valid")
bad("twice", "Property is there twice")
bad("rtx_count", "Not 1 to 256 transmissions")
bad("rtx_here", "Stream is too short, or more than there is")
bad("rtx_word", "Piece of the stream that is not the last one is no multiple of 4")
bad("rtx_end", "Header and stream do not end where data or transmission tells")
bad("rtx_head", "Data is not where the receiver's targets are")
bad("rtx_part", "Data goes on behind the receiver's targets")
bad("rtx_replies", "No Receive waits for the Reply")
bad("rtx_items", "More than 16 items")
bad("rtx_item", "Item is empty, or not where the message can have it")
bad("rtx_nothing", "Neither stream nor data")
bad("rtx_group", "Not the transmission of its group that is due")
bad("rtx_total", "Data of the group is not what its items say")
odd("rtx_stray", "Belongs to no group")
odd("rtx_between", "Ends a group that is not complete")
odd("rtx_pad", "Pad is not zero")
odd("credit", "No credits")
odd("flags", "Unknown flags")
odd("inv_handle", "Handle to invalidate is in no segment of a Call")
odd("reply_handle", "Handle to invalidate in a Reply")
odd("unknown_prop", "Unknown property")
odd("unknown_err", "Unknown error code")
odd("either", "By its length also an ERR_VERS in the layout of version 1")
for _, e in pairs(x) do table.insert(p.experts, e) end

-- A cursor over the message. If a word is missing, the dissection ends.
local Cursor = {}
Cursor.__index = Cursor

function Cursor.new(tvb, at) return setmetatable({ tvb = tvb, at = at or 0 }, Cursor) end
function Cursor:left() return self.tvb:len() - self.at end
function Cursor:peek(at) return self.tvb(at, 4):uint() end

-- Returns the next n bytes. If they are missing, it returns false, and the message is marked.
function Cursor:take(n, tree)
	if self:left() < n then
		-- If the capture cut the packet off, the sender is not to blame.
		if self.tvb:reported_len() == self.tvb:len() then tree:add_proto_expert_info(x.short) end
		return false
	end
	self.at = self.at + n
	return self.tvb(self.at - n, n)
end

function Cursor:word(tree, field)
	local range = self:take(4, tree)
	if not range then return false end
	if field then return range:uint(), tree:add(field, range) end
	return range:uint()
end

function Cursor:present(tree)
	local word = self:word(tree)
	if word and word > 1 then
		tree:add_proto_expert_info(x.present)
		return false
	end
	return word
end

-- Dissect a segment. @lists collects what is needed to judge the whole message.
local function segment(c, tree, chunk, lists)
	local t = tree:add(p, c.tvb(c.at, math.min(16, c:left())), "Segment")
	local handle = c:word(t, f.handle)
	local length = handle and c:word(t, f.length)
	local offset = length and c:take(8, t)
	if not offset then return false end
	t:add(f.offset, offset)
	t:set_text(string.format("Segment: handle 0x%08x, %u bytes", handle, length))
	lists.handles[handle] = true
	chunk.length = chunk.length + length
	chunk.nsegs = chunk.nsegs + 1
	if chunk.length > 0xffffffff then tree:add_proto_expert_info(x.overflow) end
	return true
end

local function read_list(c, tree, lists)
	local chunks, positions, n = {}, {}, 0
	while true do
		local more = c:present(tree)
		if not more then return false end
		if more == 0 then break end
		local t = tree:add(p, c.tvb(c.at, math.min(20, c:left())), "Read segment")
		local position, item = c:word(t, f.position)
		if not position then return false end
		if position % 4 ~= 0 then item:add_proto_expert_info(x.position) end
		if not chunks[position] then
			chunks[position] = { length = 0, nsegs = 0 }
			if position ~= 0 then table.insert(positions, position) end
		end
		if not segment(c, t, chunks[position], lists) then return false end
		n = n + 1
	end
	tree:add(f.nreads, n):set_generated()
	lists.reads, lists.zero, lists.chunks, lists.positions = n, chunks[0], chunks, positions
	-- Together with the Position Zero chunk, these are 16.
	if #positions > 15 then tree:add_proto_expert_info(x.many) end
	for _, chunk in pairs(chunks) do
		if chunk.nsegs > 64 then tree:add_proto_expert_info(x.many) end
	end
	return true
end

local function array(c, tree, lists)
	local chunk = { length = 0, nsegs = 0 }
	local n, item = c:word(tree, f.nsegs)
	if not n then return false end
	if n > c:left() / 16 then
		item:add_proto_expert_info(x.count)
		return false
	end
	if n > 64 then item:add_proto_expert_info(x.many) end
	for _ = 1, n do
		if not segment(c, tree, chunk, lists) then return false end
	end
	return chunk
end

local function write_list(c, tree, lists)
	while true do
		local more = c:present(tree)
		if not more then return false end
		if more == 0 then break end
		local t = tree:add(p, c.tvb(c.at), "Write chunk " .. lists.writes + 1)
		local from = c.at
		local chunk = array(c, t, lists)
		if not chunk then return false end
		t:set_len(c.at - from)
		lists.writes = lists.writes + 1
		lists.written = lists.written + chunk.length
	end
	tree:add(f.nwrites, lists.writes):set_generated()
	if lists.writes > 16 then tree:add_proto_expert_info(x.many) end
	return true
end

local function reply_chunk(c, tree, lists)
	local more = c:present(tree)
	if not more then return false end
	if more == 1 then
		lists.reply = array(c, tree, lists)
		if not lists.reply then return false end
	end
	tree:add(f.nreply, more):set_generated()
	return true
end

-- Does each Read chunk begin within the message, and not inside the chunks before it?
local function fits(lists, body)
	local function room(length) return length + (4 - length % 4) % 4 end
	local stream, chunks = 0, 0
	table.sort(lists.positions)
	for _, position in ipairs(lists.positions) do
		if position < stream or position > chunks + body then return false end
		local length = room(lists.chunks[position].length)
		chunks, stream = chunks + length, position + length
	end
	return true
end

-- Check the lists and the RPC message together, by the rules of RFC 8166 and of the draft of
-- version 2.
local function judge(c, tree, hdr, lists)
	local left = c:left()
	if hdr.response then
		local used = lists.reply and lists.reply.length > 0
		if lists.reads > 0 or (hdr.htype == NOMSG) ~= (used or false) then
			tree:add_proto_expert_info(x.form)
		end
	elseif (hdr.htype == NOMSG) ~= (lists.zero ~= nil and lists.zero.length >= 8) then
		tree:add_proto_expert_info(x.form)
	elseif c.tvb:reported_len() == c.tvb:len() and
	       not fits(lists, hdr.htype == NOMSG and lists.zero.length or left) then
		tree:add_proto_expert_info(x.beyond)
	end
	if hdr.htype == NOMSG then
		if left > 0 then tree:add_proto_expert_info(x.trailing) end
		return
	end
	if left < 8 then
		tree:add_proto_expert_info(x.norpc)
		return
	end
	if c:peek(c.at) ~= hdr.xid then tree:add_proto_expert_info(x.xid) end
	if c:peek(c.at + 4) ~= (hdr.response and 1 or 0) then tree:add_proto_expert_info(x.direction) end
end

local function rpc(c, pinfo, tree, root, hdr)
	local lists = { handles = {}, reads = 0, writes = 0, written = 0 }
	local handle, item = c:word(tree, f.inv_handle)
	if not handle then return end
	if not (read_list(c, tree, lists) and write_list(c, tree, lists) and reply_chunk(c, tree, lists)) then
		return
	end
	if handle ~= 0 and hdr.response then
		item:add_proto_expert_info(x.reply_handle)
	elseif handle ~= 0 and not lists.handles[handle] then
		item:add_proto_expert_info(x.inv_handle)
	end
	judge(c, tree, hdr, lists)
	if c:left() == 0 then return end

	-- If items are in chunks, the RPC dissector could not make sense of the rest of the
	-- message.
	local rest = c.tvb(c.at)
	if hdr.htype == MSG and c:left() >= 8 and lists.reads == 0 and not (hdr.response and lists.written > 0) then
		-- The RPC dissector throws an error if the message ends too early, which must not end this dissector.
		if not pcall(Dissector.call, Dissector.get("rpc"), rest:tvb(), pinfo, root) then
			tree:add_proto_expert_info(x.badrpc)
		end
	else
		tree:add(f.msg, rest)
	end
end

-- An error code's payload. Unknown codes may have any payload.
local function error_payload(c, tree, code)
	for _, field in ipairs(payload[code] or {}) do
		if not c:word(tree, field) then return end
	end
	if c:left() > 0 and codes[code] then tree:add_proto_expert_info(x.trailing) end
end

local function error_message(c, pinfo, tree, root, hdr)
	local code, item = c:word(tree, f.err)
	if not hdr.response then tree:add_proto_expert_info(x.error) end
	if not code then return end
	pinfo.cols.info:append(" " .. (codes[code] or "error " .. code))
	if not codes[code] then item:add_proto_expert_info(x.unknown_err) end
	error_payload(c, tree, code)
end

-- Words of the property RTX. connprop() compares those about Receives with RBSIZ.
local rtx_words = { "flags", "call_max", "reply_max", "msg_max", "head", "seg", "nsegs" }

local function rtx_property(data, tree, props)
	local w, items = {}, {}
	for i, name in ipairs(rtx_words) do
		local range = data(4 * i - 4, 4)
		w[name] = range:uint()
		items[name] = tree:add(f["rtx_" .. name], range)
	end
	local function refuse(name, wrong)
		if wrong then items[name]:add_proto_expert_info(x.prop) end
	end
	local power = 512
	while power < w.seg do power = 2 * power end
	refuse("call_max", w.call_max > 256)
	refuse("reply_max", w.reply_max > 256)
	refuse("msg_max", w.call_max == 0 and w.msg_max > 0 or w.call_max > 0 and w.msg_max < 1024)
	if w.nsegs == 0 then
		refuse("head", w.head > 0)
		refuse("seg", w.seg > 0)
	else
		refuse("head", w.head % 4 ~= 0 or w.head < 256 or w.head > 65532)
		refuse("seg", w.seg ~= power or w.seg > 65536)
	end
	w.nsegs_item = items.nsegs
	props.rtx = w
end

local function property(c, tree, seen, props)
	local t = tree:add(p, c.tvb(c.at), "Property")
	local from = c.at
	local which, item = c:word(t, f.which)
	if not which then return false end
	local length, litem = c:word(t, f.plen)
	if not length then return false end
	if length > c:left() then
		litem:add_proto_expert_info(x.count)
		return false
	end
	local data = c:take(length + (4 - length % 4) % 4, t)
	if not data then return false end
	t:set_len(c.at - from)
	t:set_text(string.format("Property %s", prop_names[which] or which))
	if not prop_names[which] then
		item:add_proto_expert_info(x.unknown_prop)
		if length > 0 then t:add(f.pdata, data(0, length)) end
		return true
	end
	if seen[which] then item:add_proto_expert_info(x.twice) end
	seen[which] = true
	if length == 0 then
		t:append_text(": default")
		return true
	end
	if which == RTX and length == 28 then
		rtx_property(data, t, props)
		return true
	end
	if which == RTX or length ~= 4 then
		t:add(f.pdata, data(0, length)):add_proto_expert_info(x.prop)
		return true
	end
	local value = data:uint()
	local vitem = t:add(which == RBSIZ and f.rbsiz or f.brs, data)
	if (which == RBSIZ and value < 1024) or (which == BRS and value > 2) then
		vitem:add_proto_expert_info(x.prop)
	end
	if which == RBSIZ then props.rbsiz = value end
	return true
end

local bodies = { [MSG] = rpc, [NOMSG] = rpc, [ERROR] = error_message }

-- Conversations, and messages reassembled from several packets. Both are made in the first pass
-- over a capture. Later passes only look them up.
local conns, messages, v1_errors, pieces = {}, {}, {}, {}

function p.init() conns, messages, v1_errors, pieces = {}, {}, {}, {} end

local IBQP, UNKNOWN_QP = 10, 0xffffff
local tcp_port = Field.new("tcp.srcport")

-- A packet does not have the number of the sender's queue pair. Wireshark knows this number if the
-- capture has the messages that made the connection. Otherwise all connections between two machines
-- are treated as one.
local function ports_of(pinfo)
	local from, to = pinfo.src_port, pinfo.dst_port
	-- The port type of iWARP is not that of TCP, and differs between versions of Wireshark.
	if tcp_port() then return from, to end
	if pinfo.port_type == IBQP and from > 1 and from < UNKNOWN_QP and to > 1 then return from, to end
	return "", ""
end

local function conn_of(pinfo)
	local a, b = tostring(pinfo.src), tostring(pinfo.dst)
	local from, to = ports_of(pinfo)
	a, b = a .. ":" .. from, b .. ":" .. to
	local key = a < b and a .. " " .. b or b .. " " .. a
	conns[key] = conns[key] or { asked = {}, partial = {}, groups = {}, rtx = {} }
	return conns[key], a, b
end

local function connprop(c, pinfo, tree)
	local n, item = c:word(tree, f.nprops)
	if not n then return end
	if n > c:left() / 8 then
		item:add_proto_expert_info(x.count)
		return
	end
	local seen, props = {}, { rbsiz = 4096 }
	for _ = 1, n do
		if not property(c, tree, seen, props) then return end
	end
	if c:left() > 0 then tree:add_proto_expert_info(x.trailing) end
	local rtx = props.rtx
	if not rtx then return end
	if rtx.nsegs > 0 and rtx.head + rtx.seg * rtx.nsegs > props.rbsiz then
		rtx.nsegs_item:add_proto_expert_info(x.prop)
	end
	-- Only the first property RTX of a sender counts.
	local conn, sender = conn_of(pinfo)
	if not pinfo.visited then conn.rtx[sender] = conn.rtx[sender] or { head = rtx.head, seg = rtx.seg, nsegs = rtx.nsegs } end
end
bodies[CONNPROP] = connprop

-- The round-trip extension. A sender has one group at a time. The result for each packet is kept
-- under its number, because it is computed only in the first pass.

-- Stream and data of a transmission whose header has been read: two ranges, or nil
local function transmission(c, tree, tx, rtx)
	local whole = c.tvb:reported_len() == c.tvb:len()
	local len, stop = c.tvb:reported_len(), c.at + tx.here
	if tx.data == 0 and stop ~= len or tx.data ~= 0 and (stop > tx.data or tx.data >= len) then
		tx.data_item:add_proto_expert_info(x.rtx_end)
		return
	end
	if not whole then return end
	local piece = tx.here > 0 and c.tvb(c.at, tx.here) or nil
	if piece then tree:add(f.rtx_piece, piece) end
	if tx.data == 0 then return piece end
	if tx.data > stop and c.tvb(stop, tx.data - stop):bytes() ~= ByteArray.new(string.rep("00", tx.data - stop)) then
		tree:add_proto_expert_info(x.rtx_pad)
	end
	local data = c.tvb(tx.data)
	local item = tree:add(f.rtx_placed, data)
	if rtx and tx.data ~= rtx.head then
		tx.data_item:add_proto_expert_info(x.rtx_head)
	elseif rtx and data:len() > rtx.seg * rtx.nsegs then
		item:add_proto_expert_info(x.rtx_part)
	end
	return piece, data
end

-- What the receiver had announced about its targets when this packet was sent
local function targets(pinfo, conn, receiver)
	if not pinfo.visited then pieces[pinfo.number] = conn.rtx[receiver] or false end
	return pieces[pinfo.number] or nil
end

local function append(bytes, range)
	if range then bytes:append(range:bytes()) end
end

-- Are the positions of items and Read chunks possible in one stream?
local function items_fit(items, lists, stream)
	local all = {}
	for _, position in ipairs(lists.positions) do
		table.insert(all, { position = position, length = lists.chunks[position].length, order = 0 })
	end
	for i, item in ipairs(items) do
		if item.length == 0 or item.position < 8 then return false end
		if i > 1 and item.position <= items[i - 1].position then return false end
		table.insert(all, { position = item.position, length = item.length, order = 1 })
	end
	table.sort(all, function(a, b)
		return a.position < b.position or a.position == b.position and a.order < b.order
	end)
	local stop, gone = 0, 0
	for _, next in ipairs(all) do
		if next.position % 4 ~= 0 or next.position < stop or next.position > gone + stream then return false end
		local room = next.length + (4 - next.length % 4) % 4
		stop, gone = next.position + room, gone + room
	end
	return true
end

-- The RPC message with its items inserted again; nil if they cannot be found
local function unreduced(group)
	local message, at, gone, from = ByteArray.new(), 0, 0, 0
	for i, item in ipairs(group.items) do
		local cut = item.position - gone
		if cut < at or cut > group.stream:len() or from + item.length > group.data:len() then return nil end
		if cut > at then message:append(group.stream:subset(at, cut - at)) end
		message:append(group.data:subset(from, item.length))
		local pad = (4 - item.length % 4) % 4
		if pad > 0 then message:append(ByteArray.new(string.rep("00", pad))) end
		at, gone = cut, gone + item.length + pad
		if i < #group.items then
			if not group.seg then return nil end
			from = from + math.ceil(item.length / group.seg) * group.seg
		end
	end
	if group.stream:len() > at then message:append(group.stream:subset(at, group.stream:len() - at)) end
	return message
end

local function show_group(group, pinfo, tree, root)
	tree:append_text(string.format(", all %u transmissions", group.count))
	if group.total_wrong then tree:add_proto_expert_info(x.rtx_total) end
	local message = not group.reduced and unreduced(group)
	if not message then
		tree:add(f.msg, group.stream:tvb("Payload stream")())
	elseif not pcall(Dissector.call, Dissector.get("rpc"), message:tvb("RPC message"), pinfo, root) then
		tree:add_proto_expert_info(x.badrpc)
	end
end

-- Mark a message that comes while a group of its sender is not complete. Such a message ends the
-- group.
local function interrupt(pinfo, tree, hdr)
	local conn, sender = conn_of(pinfo)
	local key = pinfo.number .. " between " .. hdr.xid
	if not pinfo.visited then
		pieces[key] = conn.groups[sender] ~= nil
		conn.groups[sender] = nil
	end
	if pieces[key] then tree:add_proto_expert_info(x.rtx_between) end
end

-- Add a transmission that is in order: the first, or the next expected one. The last one completes the group.
local function add_to_group(conn, sender, group, piece, data)
	append(group.stream, piece)
	append(group.data, data)
	group.number = group.number + 1
	if group.number < group.count then return nil end
	conn.groups[sender] = nil
	local want, items = 0, group.items
	for i, item in ipairs(items) do
		local room = i < #items and group.seg and math.ceil(item.length / group.seg) * group.seg or item.length
		want = want + room
	end
	group.total_wrong = (group.seg or #items < 2) and want ~= group.data:len()
	return group
end

local function rtx_items(c, tree, tx, n)
	for i = 1, n do
		local t = tree:add(p, c.tvb(c.at, math.min(8, c:left())), "Item " .. i)
		local position = c:word(t, f.rtx_position)
		local length = position and c:word(t, f.rtx_length)
		if not length then return false end
		t:set_text(string.format("Item: position %u, %u bytes", position, length))
		table.insert(tx.items, { position = position, length = length, tree = t })
	end
	return true
end

-- Dissect words 5 to 11, the items and the lists. Returns the lists, or nil if that is not possible.
local function rtx_header(c, tree, hdr, tx)
	local count, n
	count, tx.count_item = c:word(tree, f.rtx_count)
	tx.stream = count and c:word(tree, f.rtx_stream)
	if tx.stream then tx.here, tx.here_item = c:word(tree, f.rtx_here) end
	if tx.here then tx.data, tx.data_item = c:word(tree, f.rtx_data) end
	if tx.data then tx.replies, tx.replies_item = c:word(tree, f.rtx_replies) end
	local results = tx.replies and c:word(tree, f.rtx_results)
	if results then n, tx.nitems_item = c:word(tree, f.rtx_nitems) end
	if not n then return nil end
	tx.count, tx.items = count, {}
	if n > 16 then
		tx.nitems_item:add_proto_expert_info(x.rtx_items)
		return nil
	end
	if not rtx_items(c, tree, tx, n) then return nil end
	local lists = { handles = {}, reads = 0, writes = 0, written = 0 }
	local handle, item = c:word(tree, f.inv_handle)
	if not handle or not (read_list(c, tree, lists) and write_list(c, tree, lists) and reply_chunk(c, tree, lists)) then
		return nil
	end
	if handle ~= 0 and hdr.response then
		item:add_proto_expert_info(x.reply_handle)
	elseif handle ~= 0 and not lists.handles[handle] then
		item:add_proto_expert_info(x.inv_handle)
	end
	return lists
end

local function rtx_msg(c, pinfo, tree, root, hdr)
	local conn, sender, receiver = conn_of(pinfo)
	local tx, good = {}, true
	local lists = rtx_header(c, tree, hdr, tx)
	if not lists then return end
	local function refuse(item, mark, wrong)
		if wrong then
			item:add_proto_expert_info(mark)
			good = false
		end
	end
	refuse(tx.count_item, x.rtx_count, tx.count < 1 or tx.count > 256)
	refuse(tx.here_item, x.rtx_here, tx.here < 8 or tx.here > tx.stream or tx.count == 1 and tx.here < tx.stream)
	refuse(tx.here_item, x.rtx_word, tx.here < tx.stream and tx.here % 4 ~= 0)
	refuse(tx.replies_item, x.rtx_replies, tx.replies == 0 and not hdr.response)
	local used = lists.reply and lists.reply.length > 0
	refuse(tree, x.form, lists.zero ~= nil or hdr.response and (lists.reads > 0 or used))
	refuse(tree, x.rtx_item, not items_fit(tx.items, lists, tx.stream))
	local start = c.at
	local piece, data = transmission(c, tree, tx, targets(pinfo, conn, receiver))
	if not piece then return end
	if tx.here >= 8 then
		refuse(tree, x.xid, c:peek(start) ~= hdr.xid)
		refuse(tree, x.direction, c:peek(start + 4) ~= (hdr.response and 1 or 0))
	end
	local key = pinfo.number .. " " .. hdr.xid .. " 0"
	if not pinfo.visited and good then
		local group = {
			xid = hdr.xid, response = hdr.response, count = tx.count, number = 0, want = tx.stream, items = {},
			stream = ByteArray.new(), data = ByteArray.new(),
			seg = conn.rtx[receiver] and conn.rtx[receiver].nsegs > 0 and conn.rtx[receiver].seg or nil,
			reduced = lists.reads > 0 or hdr.response and lists.written > 0,
		}
		for i, item in ipairs(tx.items) do group.items[i] = { position = item.position, length = item.length } end
		conn.groups[sender] = group
		pieces[key] = { whole = add_to_group(conn, sender, group, piece, data) }
	end
	if pieces[key] and pieces[key].whole then show_group(pieces[key].whole, pinfo, tree, root) end
end

-- Is tx the next expected transmission of the group? (Called only in the first pass)
local function due(group, tx)
	local have = group.stream:len()
	return tx.number == group.number and tx.offset == have and have + tx.here <= group.want and
	       (have + tx.here == group.want or tx.here % 4 == 0 and tx.number < group.count - 1) and
	       (tx.data == 0 or not group.seg or group.data:len() % group.seg == 0)
end

local function rtx_next(c, pinfo, tree, root, hdr)
	local conn, sender, receiver = conn_of(pinfo)
	local tx = {}
	tx.number = c:word(tree, f.rtx_number)
	tx.offset = tx.number and c:word(tree, f.rtx_offset)
	tx.here = tx.offset and c:word(tree, f.rtx_here)
	if tx.here then tx.data, tx.data_item = c:word(tree, f.rtx_data) end
	if not tx.data then return end
	pinfo.cols.info:append(" " .. tx.number)
	if tx.here == 0 and tx.data == 0 then tree:add_proto_expert_info(x.rtx_nothing) end
	local piece, data = transmission(c, tree, tx, targets(pinfo, conn, receiver))
	local key = pinfo.number .. " " .. hdr.xid .. " " .. tx.number .. " " .. tx.offset
	if not pinfo.visited then
		local group, found = conn.groups[sender], {}
		if not group or group.xid ~= hdr.xid or group.response ~= hdr.response then
			found.mark = "rtx_stray"
			conn.groups[sender] = nil
		elseif group.broken then
			-- Only the first wrong transmission of a group is marked.
			if tx.number == group.count - 1 then conn.groups[sender] = nil end
		elseif not (piece or data) or not due(group, tx) then
			found.mark, group.broken = "rtx_group", true
			if tx.number == group.count - 1 then conn.groups[sender] = nil end
		else
			found.whole = add_to_group(conn, sender, group, piece, data)
		end
		pieces[key] = found
	end
	local found = pieces[key] or {}
	if found.mark then tree:add_proto_expert_info(x[found.mark]) end
	if found.whole then show_group(found.whole, pinfo, tree, root) end
end
bodies[RTX_MSG], bodies[RTX_NEXT] = rtx_msg, rtx_next

-- Errors in the layout of version 1 lack rdma_flags. An ERR_VERS has its code 1 in the place of the
-- flags, where version 2 has F_RESPONSE. The length tells the two layouts apart, unless the next word
-- is one of the four codes of version 2 with one argument. A CONNPROP cannot cause these codes, so an
-- error that answers a CONNPROP then has the layout of version 1.
local function v1_error(c, pinfo, hdr)
	local key = pinfo.number .. " " .. hdr.xid
	if v1_errors[key] ~= nil then return v1_errors[key] end
	local len, is, either = c.tvb:len(), false, false
	local word = len >= 20 and c:peek(16)
	if len == 20 and word == 2 and hdr.vers <= 2 then
		is = true
	elseif len == 28 and word == 1 then
		local args = payload[c:peek(20)]
		either = hdr.vers == 2 and args and #args == 1
		is = not either or conn_of(pinfo).asked[hdr.xid] or false
	end
	v1_errors[key] = { is = is, either = either }
	return v1_errors[key]
end

function p.dissector(tvb, pinfo, root)
	local c = Cursor.new(tvb)
	local tree = root:add(p, tvb())
	local hdr, item = {}
	pinfo.cols.protocol = "RPC/RDMA v2"

	hdr.xid = c:word(tree, f.xid)
	hdr.vers, item = c:word(tree, f.vers)
	if not hdr.vers then return c.at end
	hdr.credit, hdr.credit_item = c:word(tree, f.credit)
	hdr.htype, hdr.type_item = c:word(tree, f.htype)
	if not hdr.htype then return c.at end
	pinfo.cols.info = string.format("%s XID 0x%08x", types[hdr.htype] or "type " .. hdr.htype, hdr.xid)
	if hdr.credit == 0 then hdr.credit_item:add_proto_expert_info(x.credit) end

	if hdr.htype ~= RTX_NEXT then interrupt(pinfo, tree, hdr) end

	local old = hdr.htype == ERROR and v1_error(c, pinfo, hdr)
	if old and old.is then
		tree:add(f.v1form, true):set_generated()
		hdr.response = true
		error_message(c, pinfo, tree, root, hdr)
		return tvb:len()
	end
	-- An ERR_VERS has the version of the message that it refuses.
	local err_vers = hdr.htype == ERROR and tvb:len() == 32 and c:peek(20) == 1
	if hdr.vers ~= 2 and not err_vers then
		item:add_proto_expert_info(x.version)
		return tvb:len()
	end

	local flags = c:word(tree)
	if not flags then return tvb:len() end
	local range = tvb(16, 4)
	local fitem = tree:add(f.flags, range)
	fitem:add(f.response, range)
	hdr.response = flags % 2 == 1
	if flags > 1 then fitem:add_proto_expert_info(x.flags) end
	pinfo.cols.info:append(hdr.response and " response" or " request")
	if old and old.either then tree:add_proto_expert_info(x.either) end
	if hdr.htype == CONNPROP and not hdr.response then conn_of(pinfo).asked[hdr.xid] = true end

	local body = bodies[hdr.htype]
	if not body then
		hdr.type_item:add_proto_expert_info(x.type)
		return tvb:len()
	end
	body(c, pinfo, tree, root, hdr)
	return tvb:len()
end

-- The first message of a connection must look like version 2. After it, all Sends are dissected
-- except those of version 1.
local function looks_right(tvb, conn, strict)
	local known = conn.known and not strict or false
	if tvb:len() < 16 then return known end
	local vers, credit, htype = tvb(4, 4):uint(), tvb(8, 4):uint(), tvb(12, 4):uint()
	if known then return vers ~= 1 end
	if vers ~= 2 or tvb:len() < 20 or credit == 0 or credit > 65535 or not types[htype] then return false end
	local right = tvb(16, 4):uint() <= 1
	conn.known = conn.known or right
	return right
end

local ib_opcode = Field.new("infiniband.bth.opcode")
local ib_qp = Field.new("infiniband.bth.destqp")
local ib_pad = Field.new("infiniband.bth.padcnt")
local iw_opcode = Field.new("iwarp_rdma.opcode")

-- A frame may have several values of a field. The last one belongs to this packet.
local function value(field)
	local all = { field() }
	return #all > 0 and all[#all].value or nil
end

-- One packet of a message that may have several. The first packet decides whether the message
-- is dissected here. If so, the others are taken as well, and the message is shown with the last.
local function part(tvb, pinfo, root, conn, stream, key, first, last)
	if first and last then
		if not looks_right(tvb, conn) then return false end
		p.dissector(tvb, pinfo, root)
		return true
	end
	key = pinfo.number .. " " .. key
	if not pinfo.visited then
		if first then conn.partial[stream] = looks_right(tvb, conn) and ByteArray.new() or nil end
		local whole = conn.partial[stream]
		if whole then whole:append(tvb:range():bytes()) end
		messages[key] = { ours = whole ~= nil, whole = last and whole }
		if last then conn.partial[stream] = nil end
	end
	local message = messages[key]
	if not message or not message.ours then return false end
	if message.whole then
		p.dissector(message.whole:tvb("RPC-over-RDMA message"), pinfo, root)
	else
		root:add(p, tvb()):append_text(", part of a message")
	end
	return true
end

-- Opcodes of Sends on a reliable connection: first, middle, last, last with immediate, only, only
-- with immediate, last and only with invalidate. For each: is the packet the first of its message,
-- and is it the last?
local ib_sends = {
	[0] = { true, false }, [1] = { false, false }, [2] = { false, true }, [3] = { false, true },
	[4] = { true, true }, [5] = { true, true }, [22] = { false, true }, [23] = { true, true },
}

local function infiniband(tvb, pinfo, root)
	local send = ib_sends[value(ib_opcode)]
	if not send then return false end
	-- A packet is padded to a multiple of four bytes. Only a message with placed data can have
	-- a length that is no such multiple.
	local pad = value(ib_pad) or 0
	if pad > 0 and pad < tvb:len() then tvb = tvb(0, tvb:len() - pad):tvb() end
	local conn, sender = conn_of(pinfo)
	return part(tvb, pinfo, root, conn, sender .. " " .. tostring(value(ib_qp)), "ib", send[1], send[2])
end

-- Wireshark reassembles the segments of an iWARP message before it calls this function. In the
-- first of two passes, the opcode of the message may be missing.
local function iwarp(tvb, pinfo, root)
	local opcode = value(iw_opcode)
	if opcode and (opcode < 3 or opcode > 6) then return false end
	if not looks_right(tvb, conn_of(pinfo), not opcode) then return false end
	p.dissector(tvb, pinfo, root)
	return true
end

p:register_heuristic("infiniband.payload", infiniband)
p:register_heuristic("iwarp_ddp_rdmap", iwarp)
