-- SPDX-License-Identifier: GPL-2.0
-- RPC-over-RDMA version 2 for Wireshark, whose own dissector knows version 1 only.
--
--	tshark -X lua_script:rpcrdma2.lua -2 -r capture.pcap
--
-- or copy it to the directory that "tshark -G folders" calls Personal Lua Plugins. It finds
-- version 2 by itself in what RoCE, InfiniBand and iWARP carry. Messages by themselves can be
-- put in a capture of link type 147 (User 0) and decoded with
--
--	-o 'uat:user_dlts:"User 0 (DLT=147)","rpcrdma2","0","","0",""'
--
-- Where version 1 is in the same capture, and iWARP messages in several segments, Wireshark
-- 4.0's own dissector fails in the second pass: do without -2, or --disable-heuristic rpcrdma_iwarp.
--
-- What Linux answers with an error or drops whatever was said before is marked with expert
-- severity Error, what is legal and odd with Warning. Not marked is what one message does not
-- tell: chunks in a Call to a client, lists in a Reply that its Call did not offer, a Call longer
-- than the server takes, and what settings of a receiver forbid. Layouts: Documentation/wire.rst.

local p = Proto("rpcrdma2", "RPC-over-RDMA version 2")

local MSG, NOMSG, ERROR, CONNPROP = 0, 1, 4, 5
local RBSIZ, BRS = 1, 2

local types = {
	[MSG] = "RDMA2_MSG", [NOMSG] = "RDMA2_NOMSG", [ERROR] = "RDMA2_ERROR", [CONNPROP] = "RDMA2_CONNPROP",
}
local codes = {
	[1] = "RDMA2_ERR_VERS", [2] = "RDMA2_ERR_BAD_XDR", [3] = "RDMA2_ERR_INVAL_HTYPE",
	[4] = "RDMA2_ERR_READ_CHUNKS", [5] = "RDMA2_ERR_WRITE_CHUNKS", [6] = "RDMA2_ERR_SEGMENTS",
	[7] = "RDMA2_ERR_WRITE_RESOURCE", [8] = "RDMA2_ERR_REPLY_RESOURCE", [9] = "RDMA2_ERR_SYSTEM",
}
local prop_names = { [RBSIZ] = "RBSIZ (receive buffer size)", [BRS] = "BRS (reverse request support)" }
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
}
for _, field in pairs(f) do table.insert(p.fields, field) end

-- What each error code brings with it.
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
odd("credit", "No credits")
odd("flags", "Unknown flags")
odd("inv_handle", "Handle to invalidate is in no segment of a Call")
odd("reply_handle", "Handle to invalidate in a Reply")
odd("unknown_prop", "Unknown property")
odd("unknown_err", "Unknown error code")
odd("either", "By its length also an ERR_VERS in the layout of version 1")
for _, e in pairs(x) do table.insert(p.experts, e) end

-- A cursor over the message. Words that are not there end the dissection.
local Cursor = {}
Cursor.__index = Cursor

function Cursor.new(tvb, at) return setmetatable({ tvb = tvb, at = at or 0 }, Cursor) end
function Cursor:left() return self.tvb:len() - self.at end
function Cursor:peek(at) return self.tvb(at, 4):uint() end

-- The next n bytes; false, and a mark, if they are not there.
function Cursor:take(n, tree)
	if self:left() < n then
		-- Only what was on the wire is held against the sender.
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

-- A message's lists, as far as what is said about the whole message needs them.
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
	-- With the Position Zero chunk these are 16.
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

-- Does each Read chunk begin where the message, or the chunks before it, can reach?
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

-- What RFC 8166 and the draft say about lists and RPC message together.
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

	-- A message from which items were taken out is not for the RPC dissector.
	local rest = c.tvb(c.at)
	if hdr.htype == MSG and c:left() >= 8 and lists.reads == 0 and not (hdr.response and lists.written > 0) then
		-- It throws when the message ends too early, which must not end here as a fault of ours.
		if not pcall(Dissector.call, Dissector.get("rpc"), rest:tvb(), pinfo, root) then
			tree:add_proto_expert_info(x.badrpc)
		end
	else
		tree:add(f.msg, rest)
	end
end

-- An error code's payload. Unknown codes bring what they like.
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

local function property(c, tree, seen)
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
	if length ~= 4 then
		t:add(f.pdata, data(0, length)):add_proto_expert_info(x.prop)
		return true
	end
	local value = data:uint()
	local vitem = t:add(which == RBSIZ and f.rbsiz or f.brs, data)
	if (which == RBSIZ and value < 1024) or (which == BRS and value > 2) then
		vitem:add_proto_expert_info(x.prop)
	end
	return true
end

local function connprop(c, pinfo, tree)
	local n, item = c:word(tree, f.nprops)
	if not n then return end
	if n > c:left() / 8 then
		item:add_proto_expert_info(x.count)
		return
	end
	local seen = {}
	for _ = 1, n do
		if not property(c, tree, seen) then return end
	end
	if c:left() > 0 then tree:add_proto_expert_info(x.trailing) end
end

local bodies = { [MSG] = rpc, [NOMSG] = rpc, [ERROR] = error_message, [CONNPROP] = connprop }

-- Conversations, and what was put together from several packets. Both are made in the first
-- pass over a capture and only looked at in later ones.
local conns, messages, v1_errors = {}, {}, {}

function p.init() conns, messages, v1_errors = {}, {}, {} end

local function conn_of(pinfo)
	local a, b = tostring(pinfo.src), tostring(pinfo.dst)
	local ports = pinfo.port_type == 2 and { pinfo.src_port, pinfo.dst_port } or { "", "" }
	a, b = a .. ":" .. ports[1], b .. ":" .. ports[2]
	local key = a < b and a .. " " .. b or b .. " " .. a
	conns[key] = conns[key] or { asked = {}, partial = {} }
	return conns[key], a
end

-- Errors in the layout of version 1 lack rdma_flags; ERR_VERS has 1 in its place, which is
-- F_RESPONSE. The length tells, but for four codes: there it depends on whether the error
-- answers a CONNPROP, which cannot provoke those.
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

	local old = hdr.htype == ERROR and v1_error(c, pinfo, hdr)
	if old and old.is then
		tree:add(f.v1form, true):set_generated()
		hdr.response = true
		error_message(c, pinfo, tree, root, hdr)
		return tvb:len()
	end
	-- ERR_VERS repeats the version it is about
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

-- The first message of a connection has to look the part; after it, all Sends but those of
-- version 1 are taken.
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
local iw_opcode = Field.new("iwarp_rdma.opcode")

-- A frame may have several of a kind; the last one is the one at hand.
local function value(field)
	local all = { field() }
	return #all > 0 and all[#all].value or nil
end

-- One packet of a message that may have several. The first one shows whether the message is
-- one of ours; the others are then taken as well, and the last one shows it all.
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

-- Opcodes of a reliable connection: first, middle, last, last with immediate, only, only
-- with immediate, last and only with invalidate.
local ib_sends = {
	[0] = { true, false }, [1] = { false, false }, [2] = { false, true }, [3] = { false, true },
	[4] = { true, true }, [5] = { true, true }, [22] = { false, true }, [23] = { true, true },
}

local function infiniband(tvb, pinfo, root)
	local send = ib_sends[value(ib_opcode)]
	if not send then return false end
	local conn, sender = conn_of(pinfo)
	return part(tvb, pinfo, root, conn, sender .. " " .. tostring(value(ib_qp)), "ib", send[1], send[2])
end

-- Wireshark puts the parts of an iWARP message together before it asks. In the first of two
-- passes it does not say what it is part of.
local function iwarp(tvb, pinfo, root)
	local opcode = value(iw_opcode)
	if opcode and (opcode < 3 or opcode > 6) then return false end
	if not looks_right(tvb, conn_of(pinfo), not opcode) then return false end
	p.dissector(tvb, pinfo, root)
	return true
end

p:register_heuristic("infiniband.payload", infiniband)
p:register_heuristic("iwarp_ddp_rdmap", iwarp)
